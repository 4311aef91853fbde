#pragma once

// What RAM this process has, by the kernel's own account, and how much more there is.

#include <filesystem>

#include "poet/base/units.h"

namespace poet::runtime {

/// Pages in RAM. The kernel counts in batches per thread or core, so these may lag by some hundred KiB.
struct ProcessMemory {
  Bytes resident{};     // now: anonymous + file + shared
  Bytes peak{};         // the most that `resident` was, since the process began or since reset_peak_memory()
  Bytes anonymous{};    // heap, stacks, what was written to
  Bytes file_backed{};  // the program, its libraries, mapped files: can be dropped and read again
};

/// Throws InputError where the system does not tell (no /proc). `status` is for tests.
[[nodiscard]] ProcessMemory process_memory(const std::filesystem::path& status = "/proc/self/status");

/// From now on `peak` is the most since now. False where the system does not allow it: the peak then goes on
/// counting from the beginning of the process.
bool reset_peak_memory();

/// What this process can still take before the machine, or the control groups (version 1 and 2) that it is
/// in, runs out; page cache that can be dropped counts as free. Throws InputError where the system does not
/// tell. `root` is the root folder, for tests.
[[nodiscard]] Bytes available_memory(const std::filesystem::path& root = "/");

}  // namespace poet::runtime
