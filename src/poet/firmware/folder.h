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
};

/// Those with a folder in firmware/boards, by name.
[[nodiscard]] const std::vector<Board>& boards();
/// Throws InputError naming the ones that there are.
[[nodiscard]] const Board& board(const std::string& name);

/// Whether the program is too large for the board's flash, and streamed from the card.
[[nodiscard]] bool code_is_on_card(const Program& program, const Board& board);

/// Writes all but the card: plan.c, poet_plan.h, program.bin, program.S, the engine, the kernels that the
/// plan needs, the board's files, Makefile. `folder` is made if it is not there; files of those names are
/// replaced. Throws InputError where it cannot be written.
void write_folder(const std::filesystem::path& folder, const Program& program, const Board& board,
                  std::uint64_t seed);

}  // namespace poet::firmware
