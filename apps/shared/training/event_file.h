#pragma once

// Figures of a run as TensorBoard reads them: records (length and contents, each with a masked CRC-32C, as
// TFRecord files have them) of Event messages of one summary each, in protobuf's encoding.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poet::cli {

/// By Castagnoli's polynomial.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

/// The bytes of a record.
[[nodiscard]] std::string event_record(std::string_view contents);

/// Throws InputError naming `option` unless the folder can be written to, or made. Creates nothing.
void check_event_folder(const char* option, const std::filesystem::path& folder);

using Scalars = std::vector<std::pair<std::string, float>>;  // tag, value

class EventFile {
 public:
  /// Begins a new file in `folder`, which is made where it is missing: its name, by the time and the host, is
  /// none of an earlier run's. Throws InputError naming the folder or the file.
  explicit EventFile(const std::filesystem::path& folder);

  /// At once in the file, for those who look on. Throws InputError where it cannot be written; what the file
  /// had before is still whole then.
  void add(std::int64_t step, const Scalars& scalars);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void write(const std::string& event);

  std::filesystem::path path_;
  std::ofstream file_;
  std::uintmax_t size_ = 0;
};

}  // namespace poet::cli
