#pragma once

// Complete reads and writes at an offset of a file, repeated after partial transfers and interrupts. Nothing
// here allocates; errors are returned as codes, from which the caller makes a message.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "poet/base/descriptor.h"

namespace poet::runtime {

/// The result of a transfer: complete if `done` is the requested size; otherwise `error` is the errno, or 0
/// if a read reached the end of the file.
struct IoOutcome {
  std::size_t done = 0;
  int error = 0;
};

[[nodiscard]] IoOutcome read_at(int descriptor, std::int64_t offset, std::span<std::byte> to);
[[nodiscard]] IoOutcome write_at(int descriptor, std::int64_t offset, std::span<const std::byte> from);

/// Returns whether the path still names the opened file: another process may have removed it between opening
/// and locking.
[[nodiscard]] bool still_named(int descriptor, const std::filesystem::path& file);

/// Returns the system's text for an errno: "No space left on device".
[[nodiscard]] std::string error_text(int error);
/// Explains an incomplete transfer of `wanted` bytes: "File too large, after 4,096 of 65,536 bytes".
[[nodiscard]] std::string explain(const IoOutcome& outcome, std::size_t wanted);

}  // namespace poet::runtime
