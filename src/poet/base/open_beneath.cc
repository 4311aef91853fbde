#include "poet/base/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace poet {
namespace {

namespace fs = std::filesystem;

Descriptor refused(int error) {
  errno = error;
  return Descriptor();
}

/// Also where it would not leave: what is written with ".." has no reason to be. The system reads a name up
/// to its first zero byte, so that "..\0" would be another name here than there.
bool leaves(const fs::path& name) {
  return name.empty() || name.is_absolute() || name.native().find('\0') != std::string::npos ||
         std::any_of(name.begin(), name.end(), [](const fs::path& part) { return part == ".."; });
}

Descriptor opened_folder(const fs::path& folder) {
  // "" is the folder of a file that is named without one.
  return Descriptor(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool is_link(int folder, const char* name) {
  struct stat there {};
  return ::fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(there.st_mode);
}

/// Whether an errno may mean that openat2() is not there rather than that the file is refused.
bool is_not_there(int error) { return error == ENOSYS || error == EPERM; }

}  // namespace

Descriptor open_beneath(const fs::path& folder, const fs::path& name, int flags) {
  if (leaves(name)) return refused(EXDEV);
  const Descriptor top = opened_folder(folder);
  if (!top.valid()) return refused(errno);
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long number = 0;
  do number = ::syscall(SYS_openat2, top.get(), name.c_str(), &how, sizeof how);
  while (number < 0 && (errno == EINTR || errno == EAGAIN));  // EAGAIN: a folder was renamed meanwhile
  if (number < 0 && is_not_there(errno)) return open_beneath_in_steps(folder, name, flags);
  const int error = errno;
  if (number < 0) return refused(error);
  return Descriptor(static_cast<int>(number));
}

Descriptor open_beneath_in_steps(const fs::path& folder, const fs::path& name, int flags) {
  if (leaves(name)) return refused(EXDEV);
  Descriptor at = opened_folder(folder);
  if (!at.valid()) return refused(errno);
  for (auto part = name.begin(); part != name.end(); ++part) {
    const bool is_last = std::next(part) == name.end();
    const char* text = part->empty() ? "." : part->c_str();  // behind a slash at the end
    const int how = is_last ? flags : O_PATH | O_DIRECTORY;
    Descriptor next(::openat(at.get(), text, how | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) {
      const int error = errno;  // of a link ENOTDIR, with O_DIRECTORY
      return refused(is_link(at.get(), text) ? ELOOP : error);
    }
    struct stat opened {};  // with O_PATH alone, the link itself
    if (::fstat(next.get(), &opened) == 0 && S_ISLNK(opened.st_mode)) return refused(ELOOP);
    at = std::move(next);
  }
  return at;
}

std::string rule_beneath(int error) {
  if (error == EXDEV) return "is not in the folder";
  if (error == ELOOP) return "is, or is behind, a symbolic link";
  return std::strerror(error);
}

}  // namespace poet
