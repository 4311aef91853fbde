#pragma once

// The folder of C that `poet codegen` writes.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "poet/firmware/program.h"

namespace poet::firmware {

struct Board {
  std::string name;
  std::string description;                // one line
  std::vector<std::string> shared_files;  // of firmware/cortex-m
  std::int64_t ram_bytes = 0;             // that the firmware may touch; 0: no matter
  std::int64_t flash_bytes = 0;           // the same
  std::vector<std::string> processors{};  // as the compiler calls them; the one that `make` takes first
  std::string machine{};                  // QEMU's options; empty: it has no such board
  bool has_sd_card = false;               // else the storage is the file card.img
  std::int64_t most_ram_bytes = 0;        // that an emulator gives it; 0: ram_bytes
  /// Of the card's image that it reaches; 0: any.
  [[nodiscard]] std::uint64_t most_card_bytes() const {
    constexpr std::uint64_t kBySemihosting = (std::uint64_t{1} << 32U) - 1;
    return ram_bytes > 0 && !has_sd_card ? kBySemihosting : 0;
  }
};

/// Returns the boards with a folder in firmware/boards, sorted by name.
[[nodiscard]] const std::vector<Board>& boards();
/// Returns the board with this much RAM. Throws InputError unless it is a power of two (as the MPU's window
/// is) that the board or its emulator has.
[[nodiscard]] Board with_ram(const Board& board, std::int64_t ram_bytes);
/// Returns a board by name. Throws InputError with the known names.
[[nodiscard]] const Board& board(const std::string& name);

struct Memory;

/// The plan's description in README.md.
struct Description {
  std::string plan;       // the file's name
  std::string network;    // ops, parameters
  std::string storage;    // pages, samples
  std::string optimizer;  // and the schedule of its rate
  std::uint64_t seed = 0;
};

/// Writes all but the card: plan.c, poet_plan.h, program.bin, program.S, the engine, the kernels that the
/// plan needs, the board's files, Makefile, README.md. `folder` is there. `memory`: memory_of() these. Throws
/// InputError where it cannot be written.
void write_folder(const std::filesystem::path& folder, const Program& program, const Board& board,
                  const std::vector<Memory>& memory, const Description& description);

}  // namespace poet::firmware
