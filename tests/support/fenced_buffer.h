#pragma once

// Memory that ends, or begins, at pages that nobody may touch: reading outside is a fault at once, and what
// is written on the side without a fence is noticed.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>

namespace poet::test {

class FencedBuffer {
 public:
  enum class Fence { before, behind };

  /// At a multiple of 64 with a fence in front; else at a multiple of 4, or of `alignment`, with one behind.
  FencedBuffer(std::size_t size, Fence fence, std::size_t alignment = 4) : size_(size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t room = (size + page - 1) / page * page + page;
    mapped_ = room + 2 * page;
    void* const memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(memory);
    inner_ = base_ + page;
    inner_size_ = room;
    if (mprotect(inner_, room, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::fill_n(inner_, room, kUntouched);
    const std::size_t slack = (room - size) / alignment * alignment;
    data_ = fence == Fence::before ? inner_ : inner_ + slack;
  }
  FencedBuffer(const FencedBuffer&) = delete;
  FencedBuffer& operator=(const FencedBuffer&) = delete;
  FencedBuffer(FencedBuffer&&) = delete;
  FencedBuffer& operator=(FencedBuffer&&) = delete;
  ~FencedBuffer() { munmap(base_, mapped_); }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Nobody has written outside.
  [[nodiscard]] bool intact() const {
    const auto untouched = [](std::byte b) { return b == kUntouched; };
    const std::byte* const begin = inner_;
    const std::byte* const data = data_;
    return std::all_of(begin, data, untouched) && std::all_of(data + size_, begin + inner_size_, untouched);
  }

 private:
  static constexpr std::byte kUntouched{0xA5};

  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* inner_ = nullptr;
  std::size_t inner_size_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace poet::test
