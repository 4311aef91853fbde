#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

namespace poet::runtime {

/// Large enough that a device is busy with the bytes and not with the requests, and a multiple of any block.
inline constexpr std::int64_t kBufferBytes = std::int64_t{1} << 20;

/// Between memory of any address and a file: zeros at first, aligned to any block.
class PageBuffer {
 public:
  PageBuffer() : bytes_(static_cast<std::byte*>(::operator new(kBufferBytes, kAlignment))) {
    std::memset(bytes_, 0, kBufferBytes);
  }
  ~PageBuffer() { ::operator delete(bytes_, kAlignment); }
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;
  PageBuffer(PageBuffer&&) = delete;
  PageBuffer& operator=(PageBuffer&&) = delete;

  [[nodiscard]] std::span<std::byte> first(std::int64_t size) {
    return {bytes_, static_cast<std::size_t>(size)};
  }

 private:
  static constexpr std::align_val_t kAlignment{65536};
  std::byte* bytes_;
};

}  // namespace poet::runtime
