#include "poet/runtime/storage/backing_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/storage/left_run.h"
#include "poet/runtime/storage/page_file_header.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOwnerOnly = 0600;  // pages hold the training data
constexpr std::int64_t kLargestBlock = 65536;

/// The answers of file systems, and of kernels, that do not know unnamed files.
bool knows_no_unnamed_files(int error) { return error == EOPNOTSUPP || error == EISDIR || error == EINVAL; }

/// What transfers past the page cache must be multiples of, if the system says so.
std::int64_t stated_alignment([[maybe_unused]] int descriptor) {
#ifdef STATX_DIOALIGN
  struct statx facts {};
  if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 &&
      (facts.stx_mask & STATX_DIOALIGN) != 0)
    return std::max<std::int64_t>(facts.stx_dio_offset_align, facts.stx_dio_mem_align);
#endif
  return 0;
}

/// 0 or the errno.
int reserve_space(int descriptor, std::int64_t size) {
  // Not posix_fallocate, which where the file system cannot would write to the file byte by byte.
  while (::fallocate(descriptor, 0, 0, size) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

/// Behind the first line. 0 or the errno.
int write_zeros(int descriptor, std::int64_t size, std::span<const std::byte> zeros) {
  for (auto at = static_cast<std::int64_t>(kFirstLineBytes); at < size;) {
    const auto left = static_cast<std::size_t>(size - at);
    const IoOutcome outcome = write_at(descriptor, at, zeros.first(std::min(zeros.size(), left)));
    if (outcome.error != 0) return outcome.error;
    at += static_cast<std::int64_t>(outcome.done);
  }
  return 0;
}

/// So that a power cut does not take the name. A file system that cannot do that keeps names in its own way.
void sync_folder_of(const fs::path& file) {
  const Descriptor folder(
      ::open(fs::absolute(file).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) static_cast<void>(::fsync(folder.get()));
}

bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

}  // namespace

Descriptor open_unnamed(const fs::path& folder) {
  return Descriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly));
}

Descriptor open_and_unlink(const fs::path& folder) {
  std::string name = (folder / "poet-pages-XXXXXX").string();
  Descriptor opened(::mkostemp(name.data(), O_CLOEXEC));
  if (opened.valid()) ::unlink(name.c_str());
  return opened;
}

BackingFile::BackingFile(const fs::path& where, PageFileUse use) {
  std::error_code ignored;
  if (use == PageFileUse::go_on)
    open_left(where);
  else if (fs::is_directory(where, ignored))
    open_in(where);
  else
    open_named(where, use);
  look_at_file_system();
}

BackingFile::Name::~Name() {
  if (kept) return;
  // Unless the name is another file's by now.
  if (!file.empty() && still_named(descriptor, file)) ::unlink(file.c_str());
  if (was_empty && ::ftruncate(descriptor, 0) != 0) {
    // Then it is a page file that no run has open, which the next one may take over.
  }
}

void BackingFile::fail(const std::string& what, int error) const {
  throw InputError(name_, fmt::format("{}: {}", what, error_text(error)));
}

void BackingFile::open_in(const fs::path& folder) {
  name_ = "the page file in " + folder.string();
  descriptor_ = open_unnamed(folder);
  if (!descriptor_.valid() && knows_no_unnamed_files(errno)) descriptor_ = open_and_unlink(folder);
  if (!descriptor_.valid()) fail("cannot be created", errno);
}

void BackingFile::open_named(const fs::path& file, PageFileUse use) {
  name_ = file.string();
  do {
    open_named_once(file);
  } while (!still_named(descriptor_.get(), file));
  if (named_.file.empty()) take_over(file);
  // Before anything else is in the file: from now on it can be told whose it was.
  const int error = write_first_line(
      descriptor_.get(), use == PageFileUse::resumable ? PageFileKind::resumable : PageFileKind::transient);
  if (error != 0) fail("cannot be written", error);
  if (use == PageFileUse::resumable) sync_folder_of(file);
}

void BackingFile::open_named_once(const fs::path& file) {
  descriptor_ = Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
  named_.file = descriptor_.valid() ? file : fs::path();
  // Without blocking: what is there may be a pipe.
  if (!descriptor_.valid() && errno == EEXIST)
    descriptor_ = Descriptor(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor_.valid()) fail("cannot be opened for paging", errno);
  lock();
}

/// What is in it stays, also when this process finds that it cannot go on from it.
void BackingFile::open_left(const fs::path& file) {
  name_ = file.string();
  descriptor_ = Descriptor(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor_.valid()) fail("cannot be opened for paging", errno);
  lock();
  named_.file = file;
  named_.kept = true;
}

void BackingFile::lock() {
  named_.descriptor = descriptor_.get();
  if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0) return;
  // Another run locked it between its being created and now: the name is that run's.
  const int error = errno;
  named_.file.clear();
  if (error == EWOULDBLOCK) throw InputError(name_, "is in use by another run");
  fail("cannot be locked", error);
}

/// A file that was there: a page file that a killed run has left, which goes at the end as it should have, or
/// an empty one, which stays. One with steps in it, not only what its run began with, is refused.
void BackingFile::take_over(const fs::path& file) {
  struct stat facts {};
  if (::fstat(descriptor_.get(), &facts) != 0) fail("cannot be opened", errno);
  if (!S_ISREG(facts.st_mode)) throw InputError(name_, "must be a folder or a regular file to page to");
  if (facts.st_size == 0) {
    named_.was_empty = true;
    return;
  }
  if (kind_of_page_file(descriptor_.get()) == PageFileKind::none)
    throw InputError(name_, "is not a poet page file, and paging would overwrite it; name another file");
  if (const std::optional<StepRecord> left = last_record(descriptor_.get()); left && left->number > 1) {
    const std::optional<PageFileHeader> header = read_header(descriptor_.get());
    if (header && facts.st_size < header->size.value())
      throw InputError(name_, fmt::format("has the records of a run that came to step {}, but not all of its "
                                          "pages: to begin anew, remove the file",
                                          format_count(left->step)));
    throw InputError(name_, fmt::format("holds a run that can be resumed after step {}: do so with "
                                        "`resume`, or remove the file",
                                        format_count(left->step)));
  }
  if (::ftruncate(descriptor_.get(), 0) != 0) fail("cannot be emptied", errno);
  named_.file = file;
}

void BackingFile::sync() {
  if (::fdatasync(descriptor_.get()) != 0) fail("cannot be brought to the storage", errno);
}

void BackingFile::look_at_file_system() {
  struct statfs facts {};
  if (::fstatfs(descriptor_.get(), &facts) != 0) fail("cannot be examined", errno);
  const auto type = static_cast<std::uint64_t>(facts.f_type) & 0xffffffff;
  in_ram_ = type == TMPFS_MAGIC || type == RAMFS_MAGIC;
  std::int64_t block = stated_alignment(descriptor_.get());
  if (block == 0) block = static_cast<std::int64_t>(facts.f_bsize);
  // Less than a page of memory is never faster; more than this no device asks for, but network file systems
  // state sizes that they like as if they were blocks.
  if (is_power_of_two(block) && block <= kLargestBlock) block_ = Bytes(std::max(block, block_.value()));
}

void BackingFile::reserve(Bytes size, std::span<const std::byte> zeros) {
  if (size.value() == 0) return;
  struct statvfs space {};
  if (::fstatvfs(descriptor_.get(), &space) == 0) {
    const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
    // Asked first: a reservation that cannot succeed would fill the storage for everybody until it fails.
    if (free < static_cast<double>(size.value()))
      throw InputError(name_,
                       fmt::format("needs {} bytes of storage and {} are free", format_count(size.value()),
                                   format_count(static_cast<std::int64_t>(free))));
  }
  int error = reserve_space(descriptor_.get(), size.value());
  if (error == EOPNOTSUPP) error = write_zeros(descriptor_.get(), size.value(), zeros);
  if (error != 0)
    fail(fmt::format("cannot be given the {} bytes that it needs", format_count(size.value())), error);
}

void BackingFile::bypass_cache(std::span<std::byte> block) {
  if (in_ram_) return;  // there is no cache before RAM
  if (read_at(descriptor_.get(), 0, block).done != block.size()) return;
  const int flags = ::fcntl(descriptor_.get(), F_GETFL);
  if (flags < 0 || ::fcntl(descriptor_.get(), F_SETFL, flags | O_DIRECT) != 0) return;
  direct_ = write_at(descriptor_.get(), 0, block).done == block.size() &&
            read_at(descriptor_.get(), 0, block).done == block.size();
  if (!direct_ && ::fcntl(descriptor_.get(), F_SETFL, flags) != 0) fail("cannot be set up", errno);
}

}  // namespace poet::runtime
