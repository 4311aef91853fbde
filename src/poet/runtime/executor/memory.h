#pragma once

// The memory of a run: one block of exactly the requested size, allocated once.

#include <cstddef>
#include <span>

#include "poet/base/units.h"

namespace poet::runtime {

/// Page-aligned memory between two guard pages, so that accesses beyond its ends (after the rest of the last
/// page) end the process instead of corrupting results. Pages are allocated when first touched.
class Memory {
 public:
  /// Throws InputError if the system cannot provide it.
  explicit Memory(Bytes size);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory(Memory&&) = delete;
  Memory& operator=(Memory&&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return {begin_, size_}; }

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

/// Fills memory with a pattern by which untouched memory is recognised.
void fill_with_marks(std::span<std::byte> memory);
/// Returns the position after the last byte that differs from the pattern.
[[nodiscard]] Bytes high_water(std::span<const std::byte> memory);

}  // namespace poet::runtime
