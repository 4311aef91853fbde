#pragma once

// The checksum of a page, taken chunk by chunk: XXH3-64. It finds what storage did to a page by accident;
// against intent there is encryption.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace poet::runtime {

class PageChecksum {
 public:
  PageChecksum();
  ~PageChecksum();
  PageChecksum(const PageChecksum&) = delete;
  PageChecksum& operator=(const PageChecksum&) = delete;
  PageChecksum(PageChecksum&&) = delete;
  PageChecksum& operator=(PageChecksum&&) = delete;

  // None of these allocates.
  void start();
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
