#pragma once

// Faults that the operating system makes itself, for code that must survive them.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace poet::test {

/// The descriptor through which this process has `file` open, or -1.
inline int descriptor_of(const std::filesystem::path& file) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == file)
      return std::stoi(entry.path().filename());
  }
  return -1;
}

/// Puts another file behind an open descriptor: "/dev/full", on which every write finds no space, or
/// "/proc/self/mem", where reading address 0 is an input/output error. The first one comes back at the end.
class Instead {
 public:
  Instead(int descriptor, const char* file) : descriptor_(descriptor), first_(dup(descriptor)) {
    const int other = open(file, O_RDWR | O_CLOEXEC);
    dup2(other, descriptor);
    close(other);
  }
  ~Instead() {
    dup2(first_, descriptor_);
    close(first_);
  }
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;
  Instead(Instead&&) = delete;
  Instead& operator=(Instead&&) = delete;

 private:
  int descriptor_;
  int first_;
};

/// No file of this process can be written to beyond so many bytes: a write across the limit is cut short,
/// one behind it fails.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  FileSizeLimit(FileSizeLimit&&) = delete;
  FileSizeLimit& operator=(FileSizeLimit&&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

/// What the folder holds, by name.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  return names;
}

}  // namespace poet::test
