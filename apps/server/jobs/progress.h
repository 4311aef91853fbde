#pragma once

// What a job's process tells while it works: lines of JSON in a file (`--progress-out`).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace poet::server {

/// Follows the file. Of lines {"row": ...} all rows are kept, in short, of others the latest.
class ProgressReader {
 public:
  explicit ProgressReader(std::filesystem::path file) : file_(std::move(file)) {}

  /// What clients are told, where there is something new: the latest line, with "rows".
  [[nodiscard]] std::optional<std::string> news();

 private:
  std::filesystem::path file_;
  std::streamoff read_ = 0;
  std::string latest_ = "{}";
  std::string rows_;
};

}  // namespace poet::server
