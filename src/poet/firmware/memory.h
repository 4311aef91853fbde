#pragma once

// The RAM and flash that firmware needs, known before it is compiled: from the table
// data/firmware_memory.json, which tools/firmware_memory.py made with a compiler.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/firmware/folder.h"
#include "poet/firmware/program.h"

namespace poet::firmware {

struct Memory {
  std::string processor;  // "cortex-m4"; empty: the host, of which only the plan's part is known

  // RAM
  std::int64_t arena_bytes = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t buffer_bytes = 0;  // .data and .bss of engine and port
  std::int64_t stack_bytes = 0;   // the deepest chain of calls, an interrupt and its handler
  std::string deepest_kernel;     // on that chain; empty: the engine without one goes deeper
  [[nodiscard]] std::int64_t ram_bytes() const {
    return arena_bytes + resident_bytes + buffer_bytes + stack_bytes;
  }

  // Flash. Alignment depends on the order in which the linker lays code out, so `code` is what it is at most.
  std::int64_t code_bytes = 0;     // start-up, port, engine, the plan's kernels, what they call
  std::int64_t shape_bytes = 0;    // of operands, and the tables of the plan
  std::int64_t program_bytes = 0;  // 0 where it is on the card
  bool program_on_card = false;
  [[nodiscard]] std::int64_t flash_bytes() const { return code_bytes + shape_bytes + program_bytes; }

  std::optional<std::int64_t> instructions_per_step;  // about; of a Cortex-M4F
};

/// Elements of the arrays that plan.c has in RAM, which are among the buffers: numbers of rows, addresses of
/// an op's operands. Even, so that both are whole 8 bytes on a board, as the buffers around them.
struct PlanArrays {
  std::size_t row_numbers = 2;
  std::size_t operands = 2;
};
[[nodiscard]] PlanArrays plan_arrays(const Program& program);

/// For each of the board's processors, the one that `make` takes by default first. Throws InputError where
/// the table lacks the board or a kernel. O(kernels * their pieces).
[[nodiscard]] std::vector<Memory> memory_of(const Program& program, const Board& board);

/// What a step of the plan takes on a Cortex-M4F: by the profile m4-emulated, which is fitted to instructions
/// counted under an emulator. Without what moves bytes over SPI. O(steps).
[[nodiscard]] std::int64_t instructions_per_step(const PlanFile& file, const Program& program);

/// Throws InputError with the numbers and alternatives if the board has less RAM or flash.
void check_fits(const Memory& memory, const Board& board);

}  // namespace poet::firmware
