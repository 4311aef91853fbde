#include "poet/base/write_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "poet/base/error.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& reason) {
  throw InputError(file.string(), "cannot be written: " + reason);
}

/// Why it could not be written; empty when it was.
std::string write(const fs::path& file, const std::string& bytes) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  if (out) return {};
  return errno == 0 ? "output error" : std::strerror(errno);
}

}  // namespace

void write_file(const fs::path& file, const std::string& bytes) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_directory(status)) fail(file, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (const std::string reason = write(file, bytes); !reason.empty()) fail(file, reason);
    return;
  }
  const fs::path target = fs::is_regular_file(status) ? fs::canonical(file) : file;
  fs::path beside = target;
  beside += fmt::format(".{}.tmp", getpid());
  std::string reason = write(beside, bytes);
  if (reason.empty()) {
    std::error_code error;
    fs::rename(beside, target, error);
    if (error) reason = error.message();
  }
  if (!reason.empty()) {
    fs::remove(beside, ignored);
    fail(file, reason);
  }
}

}  // namespace poet
