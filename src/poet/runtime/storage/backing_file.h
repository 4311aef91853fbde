#pragma once

// The file under a PageFile, as the operating system sees it: where it lies, who else may have it, what
// space is kept for it, and whether it can be reached past the page cache.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "poet/base/units.h"
#include "poet/runtime/storage/file_io.h"
#include "poet/runtime/storage/page_file_options.h"

namespace poet::runtime {

/// Every error is an InputError "NAME: cannot ...: the system's reason" of one line.
///
/// The first block of the file is its own. Under a name that block says that this is a page file, so that one
/// that a killed run has left behind is told from a file that somebody needs.
class BackingFile {
 public:
  /// Opens it, empty but for the first block, or as it is for PageFileUse::go_on; `where` as in
  /// PageFileOptions.
  explicit BackingFile(const std::filesystem::path& where, PageFileUse use = PageFileUse::transient);
  ~BackingFile() = default;
  BackingFile(const BackingFile&) = delete;
  BackingFile& operator=(const BackingFile&) = delete;
  BackingFile(BackingFile&&) = delete;
  BackingFile& operator=(BackingFile&&) = delete;

  /// For messages: "/data/pages", "the page file in /tmp".
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// Transfers past the page cache begin, end and lie in memory at multiples of this: at least 4096.
  [[nodiscard]] Bytes block() const { return block_; }
  [[nodiscard]] bool in_ram() const { return in_ram_; }
  [[nodiscard]] bool direct() const { return direct_; }

  /// Takes the space from the file system, so that no later write can find it full: `size`, first block
  /// included. `zeros` are written where the file system cannot reserve.
  void reserve(Bytes size, std::span<const std::byte> zeros);

  /// From now on past the page cache if that works, which is tried out on the first block, through `block`,
  /// as long and reserved.
  void bypass_cache(std::span<std::byte> block);

  /// Until then nothing that was written need survive a power cut.
  void sync();
  /// Whether a file with a name stays at the end, as it is.
  void keep(bool kept) { named_.kept = kept; }

 private:
  void open_in(const std::filesystem::path& folder);
  void open_named(const std::filesystem::path& file, PageFileUse use);
  void open_named_once(const std::filesystem::path& file);
  void open_left(const std::filesystem::path& file);
  void lock();
  void take_over(const std::filesystem::path& file);
  [[noreturn]] void fail(const std::string& what, int error) const;
  void look_at_file_system();

  struct Name {
    std::filesystem::path file;  // to be removed
    int descriptor = -1;
    bool was_empty = false;  // a file that was there, and is to be left so
    bool kept = false;
    ~Name();  // removes or empties it
  };

  std::string name_;
  Descriptor descriptor_;
  // What the end does to the file's name. After the descriptor, so that the name goes before the lock does:
  // no other run can lock a file that is about to vanish.
  Name named_;
  Bytes block_{4096};
  bool in_ram_ = false;
  bool direct_ = false;
};

/// A file in `folder` that has no name from the moment on that it exists, or, invalid with errno set, the
/// reason why not.
[[nodiscard]] Descriptor open_unnamed(const std::filesystem::path& folder);
/// The same where the file system has no such files: a file whose name is removed at once.
[[nodiscard]] Descriptor open_and_unlink(const std::filesystem::path& folder);

}  // namespace poet::runtime
