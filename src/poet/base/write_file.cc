#include "poet/base/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "poet/base/error.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& reason) {
  throw InputError(file.string(), "cannot be written: " + reason);
}

/// 0 or the errno. A disk may be full, or gone, as late as in fsync() and close().
int write_all(int descriptor, const std::string& bytes, bool to_storage) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  // Some file systems cannot flush: then the bytes last as well as they let them.
  if (to_storage && ::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) return errno;
  return 0;
}

/// Why it could not be written; empty when it was.
std::string write(const fs::path& file, const std::string& bytes, bool to_storage) {
  // A name beside the file can be guessed: a link there would have another file overwritten.
  const int links = to_storage ? O_NOFOLLOW : 0;
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | links, 0666);
  if (descriptor < 0) return std::strerror(errno);
  int error = write_all(descriptor, bytes, to_storage);
  if (::close(descriptor) != 0 && error == 0 && errno != EINTR) error = errno;
  return error == 0 ? std::string() : std::strerror(error);
}

/// Removed unless it is renamed, also where memory runs out in between.
struct Beside {
  fs::path file;
  ~Beside() {
    if (!file.empty()) ::unlink(file.c_str());
  }
};

}  // namespace

fs::path behind_links(fs::path file) {
  constexpr int kMost = 40;  // as Linux has it
  const fs::path given = file;
  std::error_code ignored;
  for (int links = 0; fs::is_symlink(fs::symlink_status(file, ignored)); ++links) {
    if (links == kMost) fail(given, std::strerror(ELOOP));
    std::error_code error;
    const fs::path target = fs::read_symlink(file, error);
    if (error) fail(given, error.message());
    file = file.parent_path() / target;
  }
  return file;
}

void write_file(const fs::path& file, const std::string& bytes) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_directory(status)) fail(file, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (const std::string reason = write(file, bytes, false); !reason.empty()) fail(file, reason);
    return;
  }
  const fs::path target = behind_links(file);
  Beside beside{fs::path(target) += fmt::format(".{}.tmp", getpid())};
  // On storage before it takes the place of what was there: a power cut leaves one or the other.
  if (const std::string reason = write(beside.file, bytes, true); !reason.empty()) fail(file, reason);
  if (::rename(beside.file.c_str(), target.c_str()) != 0) fail(file, std::strerror(errno));
  beside.file.clear();
}

}  // namespace poet
