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

/// Throws InputError "NAME: cannot ...: the system's reason", of one line, for every error.
///
/// The first block of the file belongs to this class. In a file with a name that block says that it is a page
/// file, so that one that a killed run has left behind is told from a file that somebody needs.
class BackingFile {
 public:
  /// Opens the file: as it is for PageFileUse::go_on, otherwise empty but for the first block. `where` is as
  /// in PageFileOptions.
  explicit BackingFile(const std::filesystem::path& where, PageFileUse use = PageFileUse::transient);
  ~BackingFile() = default;
  BackingFile(const BackingFile&) = delete;
  BackingFile& operator=(const BackingFile&) = delete;
  BackingFile(BackingFile&&) = delete;
  BackingFile& operator=(BackingFile&&) = delete;

  /// Returns the name for messages: "/data/pages", "the page file in /tmp".
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// Returns the size, at least 4096 bytes, at whose multiples transfers past the page cache begin, end and
  /// lie in memory.
  [[nodiscard]] Bytes block() const { return block_; }
  /// Returns whether the file system is in RAM.
  [[nodiscard]] bool in_ram() const { return in_ram_; }
  /// Returns whether transfers go past the page cache.
  [[nodiscard]] bool direct() const { return direct_; }

  /// Takes `size` bytes, the first block included, from the file system, so that no later write finds it
  /// full. Writes `zeros` where the file system cannot reserve.
  void reserve(Bytes size, std::span<const std::byte> zeros);

  /// Transfers past the page cache from now on, if that works. Tries it out on the first block, which must be
  /// reserved, through `block`, which must be as long.
  void bypass_cache(std::span<std::byte> block);

  /// Brings all that was written to the storage: only then does it survive a power cut.
  void sync();
  /// Sets whether a file with a name stays at the end, as it is.
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

/// Returns a new file in `folder` that never has a name. Where that fails, the result is invalid and errno
/// says why.
[[nodiscard]] Descriptor open_unnamed(const std::filesystem::path& folder);
/// Returns the same for file systems without such files: a file whose name is removed at once.
[[nodiscard]] Descriptor open_and_unlink(const std::filesystem::path& folder);

}  // namespace poet::runtime
