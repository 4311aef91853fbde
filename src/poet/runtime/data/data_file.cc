#include "poet/runtime/data/data_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "poet/base/error.h"

namespace poet::runtime {

DataFile::DataFile(const std::filesystem::path& file) : name_(file.string()) {
  descriptor_ = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  struct stat status {};
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    (void)close(descriptor_);
    fail("is no file of data");
  }
  size_ = status.st_size;
}

DataFile::~DataFile() {
  if (descriptor_ >= 0) (void)close(descriptor_);
}

DataFile::DataFile(DataFile&& other) noexcept
    : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

void DataFile::read(std::int64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t count = pread(descriptor_, to.data(), to.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    if (count == 0) fail("has become shorter while it was in use");
    to = to.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

void DataFile::fail(const std::string& rule) const { throw InputError(name_, rule); }

}  // namespace poet::runtime
