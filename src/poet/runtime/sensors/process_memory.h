#pragma once

// The RAM of this process as accounted by the kernel, and the RAM still available.

#include <filesystem>

#include "poet/base/units.h"

namespace poet::runtime {

/// Pages in RAM. The kernel counts in batches per thread or core, so these may lag by some hundred KiB.
struct ProcessMemory {
  Bytes resident{};     // now: anonymous + file + shared
  Bytes peak{};         // maximum of `resident` since the process began or reset_peak_memory()
  Bytes anonymous{};    // heap, stacks, written pages
  Bytes file_backed{};  // the program, its libraries, mapped files: can be dropped and read again
};

/// Returns the memory of this process. Throws InputError if the system does not report it (no /proc).
/// `status` is for tests.
[[nodiscard]] ProcessMemory process_memory(const std::filesystem::path& status = "/proc/self/status");

/// Resets `peak`. Returns false if the system does not allow it.
bool reset_peak_memory();

/// Returns the memory that this process can still allocate within the machine and its control groups (version
/// 1 and 2); reclaimable page cache counts as free. Throws InputError if the system does not report it.
/// `root` is the root folder, for tests.
[[nodiscard]] Bytes available_memory(const std::filesystem::path& root = "/");

}  // namespace poet::runtime
