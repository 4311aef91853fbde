#pragma once

// Progress for other programs: lines of JSON, appended to a file as things happen (docs/formats.md,
// "Progress").

#include <cstdio>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace poet::cli {

class ProgressFile {
 public:
  /// Creates or empties it. Throws InputError naming the option.
  ProgressFile(const std::string& option, const std::string& file);
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ProgressFile(ProgressFile&&) = delete;
  ProgressFile& operator=(ProgressFile&&) = delete;

  /// One line, at once. Any thread may. A disk that is full costs the line, not the work.
  void write(const nlohmann::ordered_json& line);

 private:
  std::mutex mutex_;
  std::FILE* file_;
};

}  // namespace poet::cli
