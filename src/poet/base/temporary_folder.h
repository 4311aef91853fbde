#pragma once

#include <filesystem>
#include <string>

namespace poet {

/// A new folder in the system's folder of temporary files, removed with its content by the destructor.
class TemporaryFolder {
 public:
  /// Throws InputError with `place` if none can be made.
  explicit TemporaryFolder(const std::string& place);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace poet
