#pragma once

#include <filesystem>

namespace poet::runtime {

/// Of a page file that has a name.
enum class PageFileUse {
  transient,  // for as long as the process lives
  resumable,  // with records of steps, from which another process can go on
  go_on,      // as another process has left it
};

struct PageFileOptions {
  /// A folder: an unnamed file in it, which vanishes with the process however that ends. A file: that one,
  /// locked against a second run. It is created, or a page file that a killed run has left behind is taken
  /// over, unless it can be resumed; both are removed at the end. A file that was there empty is used
  /// and left empty; any other file is refused, never overwritten. Empty: default_page_folder().
  std::filesystem::path where;
  bool encrypt = false;  // with a key that never leaves the process
  bool direct = true;    // past the page cache, where the file system can
};

/// The environment's TMPDIR, else /var/tmp: where paging saves RAM, as /tmp is often in RAM itself.
[[nodiscard]] std::filesystem::path default_page_folder();

}  // namespace poet::runtime
