#include "poet/runtime/storage/file_io.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "poet/base/amounts.h"

namespace poet::runtime {
namespace {

/// Repeats `step(done)`, a system call on what is left, until `size` bytes are done.
template <class Step>
IoOutcome repeat(std::size_t size, const Step& step) {
  IoOutcome outcome;
  while (outcome.done < size) {
    const ssize_t count = step(outcome.done);
    if (count > 0) {
      outcome.done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      break;
    } else if (errno != EINTR) {
      outcome.error = errno;
      break;
    }
  }
  return outcome;
}

}  // namespace

IoOutcome read_at(int descriptor, std::int64_t offset, std::span<std::byte> to) {
  return repeat(to.size(), [&](std::size_t done) {
    return ::pread(descriptor, to.data() + done, to.size() - done, offset + static_cast<off_t>(done));
  });
}

IoOutcome write_at(int descriptor, std::int64_t offset, std::span<const std::byte> from) {
  IoOutcome outcome = repeat(from.size(), [&](std::size_t done) {
    return ::pwrite(descriptor, from.data() + done, from.size() - done, offset + static_cast<off_t>(done));
  });
  // A write that takes nothing and gives no reason would be tried for ever.
  if (outcome.done < from.size() && outcome.error == 0) outcome.error = EIO;
  return outcome;
}

bool still_named(int descriptor, const std::filesystem::path& file) {
  struct stat here {};
  struct stat there {};
  return ::fstat(descriptor, &here) == 0 && ::stat(file.c_str(), &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

std::string error_text(int error) { return std::generic_category().message(error); }

std::string explain(const IoOutcome& outcome, std::size_t wanted) {
  std::string reason = outcome.error == 0 ? "the file ends" : error_text(outcome.error);
  if (outcome.done == 0) return reason;
  return fmt::format("{}, after {} of {} bytes", reason,
                     format_count(static_cast<std::int64_t>(outcome.done)),
                     format_count(static_cast<std::int64_t>(wanted)));
}

}  // namespace poet::runtime
