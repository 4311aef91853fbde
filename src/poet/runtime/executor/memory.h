#pragma once

// The run's memory: one block, taken once, of exactly the size that was asked for.

#include <cstddef>
#include <span>

#include "poet/base/units.h"

namespace poet::runtime {

/// Page-aligned memory between two pages that nobody may touch, so that running over either end (by more
/// than fills the last page) ends the process instead of spoiling a result. The pages exist only once they
/// are touched.
class Memory {
 public:
  /// Throws InputError when the machine does not give that much.
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

/// What untouched memory is recognised by.
void fill_with_marks(std::span<std::byte> memory);
/// One past the last byte that is no mark any more.
[[nodiscard]] Bytes high_water(std::span<const std::byte> memory);

}  // namespace poet::runtime
