#pragma once

// TensorBoard event files: TFRecord records (length and contents, each with a masked CRC-32C) of Event
// messages with one summary each, in protobuf's encoding.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poet::cli {

/// Returns the CRC-32C (Castagnoli).
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

/// Encodes a record.
[[nodiscard]] std::string event_record(std::string_view contents);

/// Throws InputError naming `option` unless the folder is writable or can be created. Creates nothing.
void check_event_folder(const char* option, const std::filesystem::path& folder);

using Scalars = std::vector<std::pair<std::string, float>>;  // tag, value

class EventFile {
 public:
  /// Creates a new file in `folder`, which is created if missing. Time and host make the name unique. Throws
  /// InputError naming the folder or file.
  explicit EventFile(const std::filesystem::path& folder);

  /// Appends a record and flushes. Throws InputError if that fails; earlier records stay intact.
  void add(std::int64_t step, const Scalars& scalars);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void write(const std::string& event);

  std::filesystem::path path_;
  std::ofstream file_;
  std::uintmax_t size_ = 0;
};

}  // namespace poet::cli
