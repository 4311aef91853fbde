#pragma once

// Progress of a job's process: JSON lines in a file (`--progress-out`).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace poet::server {

/// Follows the file. Keeps all rows of lines {"row": ...}, abbreviated, and the latest other line.
class ProgressReader {
 public:
  explicit ProgressReader(std::filesystem::path file) : file_(std::move(file)) {}

  /// Returns the latest line with "rows" for clients, or nullopt if nothing is new.
  [[nodiscard]] std::optional<std::string> next_update();

 private:
  std::filesystem::path file_;
  std::streamoff read_ = 0;
  std::string latest_ = "{}";
  std::string rows_;
};

}  // namespace poet::server
