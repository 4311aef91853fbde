#pragma once

// Progress for other programs: a file of JSON lines, written as it happens (docs/formats_result.md,
// "Progress").

#include <cstdio>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace poet::cli {

class ProgressFile {
 public:
  /// Creates or truncates the file. Throws InputError naming the option.
  ProgressFile(const std::string& option, const std::string& file);
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ProgressFile(ProgressFile&&) = delete;
  ProgressFile& operator=(ProgressFile&&) = delete;

  /// Appends and flushes one line. Thread-safe. Write errors, as on a full disk, are ignored.
  void write(const nlohmann::ordered_json& line);

 private:
  std::mutex mutex_;
  std::FILE* file_;
};

}  // namespace poet::cli
