#pragma once

// Whole transfers at a place of a file. The system calls may do less than they were asked to, or be
// interrupted; these go on until everything is done or the system says why not. Nothing here allocates, so
// errors come back as codes, and who knows the file's name makes the message.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace poet::runtime {

/// Owns an open file.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  int release();
  void close();

 private:
  int number_;
};

/// How a transfer ended. Whole when `done` is what was asked for; otherwise `error` is the errno, or 0 where
/// a read met the end of the file.
struct IoOutcome {
  std::size_t done = 0;
  int error = 0;
};

[[nodiscard]] IoOutcome read_at(int descriptor, std::int64_t offset, std::span<std::byte> to);
[[nodiscard]] IoOutcome write_at(int descriptor, std::int64_t offset, std::span<const std::byte> from);

/// Whether the path still leads to the opened file: between opening and locking it another process may have
/// removed it.
[[nodiscard]] bool still_named(int descriptor, const std::filesystem::path& file);

/// The system's words for an errno: "No space left on device".
[[nodiscard]] std::string error_text(int error);
/// Why a transfer of `wanted` bytes is not whole: "File too large, after 4,096 of 65,536 bytes".
[[nodiscard]] std::string explain(const IoOutcome& outcome, std::size_t wanted);

}  // namespace poet::runtime
