#include "poet/runtime/executor/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "poet/base/error.h"

namespace poet::runtime {
namespace {

// A pattern that no tensor is likely to end in: as a float it is -6.9e18, as an integer negative.
constexpr std::byte kMark{0xde};

}  // namespace

Memory::Memory(Bytes size) : size_(static_cast<std::size_t>(size.value())) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inner = (size_ + page - 1) / page * page;
  mapped_ = inner + 2 * page;
  void* mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    throw InputError("memory",
                     fmt::format("{} bytes cannot be allocated: {}", size.value(), std::strerror(errno)));
  mapping_ = static_cast<std::byte*>(mapping);
  begin_ = mapping_ + page;
  if (inner > 0 && mprotect(begin_, inner, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(mapping_, mapped_);
    throw InputError("memory",
                     fmt::format("{} bytes cannot be allocated: {}", size.value(), std::strerror(error)));
  }
}

Memory::~Memory() { munmap(mapping_, mapped_); }

void fill_with_marks(std::span<std::byte> memory) { std::fill(memory.begin(), memory.end(), kMark); }

Bytes high_water(std::span<const std::byte> memory) {
  const auto last = std::find_if(memory.rbegin(), memory.rend(), [](std::byte b) { return b != kMark; });
  return Bytes(memory.rend() - last);
}

}  // namespace poet::runtime
