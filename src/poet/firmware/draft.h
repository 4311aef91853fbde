#pragma once

// Writes a folder atomically.

#include <filesystem>

namespace poet::firmware {

/// Files for `folder`, written elsewhere on its file system until commit() moves them there. Without
/// commit(), the destructor removes them, and `folder` is as it was.
///
/// The folder lists in files.txt what was written: another draft of it replaces these files and no others.
class Draft {
 public:
  /// Throws InputError where `folder` is a file, or has files and no files.txt of ours among them, or where
  /// the folder that it would be in does not exist.
  explicit Draft(const std::filesystem::path& folder);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft(Draft&&) = delete;
  Draft& operator=(Draft&&) = delete;

  /// Where the files are to be written.
  [[nodiscard]] const std::filesystem::path& path() const { return draft_; }
  /// Throws InputError where the folder cannot be written.
  void commit();

 private:
  std::filesystem::path folder_;
  std::filesystem::path draft_;
  bool is_new_ = false;
};

}  // namespace poet::firmware
