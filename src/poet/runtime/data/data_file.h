#pragma once

// A data file, read by offset. Private to runtime/data.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace poet::runtime {

/// Closed at the end of its scope. Reading from several threads is safe.
class DataFile {
 public:
  /// Throws InputError naming the file if it cannot be opened or is no regular file.
  explicit DataFile(const std::filesystem::path& file);
  ~DataFile();
  DataFile(DataFile&& other) noexcept;
  DataFile& operator=(DataFile&&) = delete;
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

  /// Reads `to.size()` bytes from `offset` on. Throws InputError on I/O errors and if the file is too short.
  void read(std::int64_t offset, std::span<std::byte> to) const;

  /// Throws an InputError that names the file.
  [[noreturn]] void fail(const std::string& rule) const;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace poet::runtime
