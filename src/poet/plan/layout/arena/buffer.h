#pragma once

// What is packed: buffers with lifetimes, and where they may lie.

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace poet {

struct Lifetime {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
};

/// The highest end of what may lie anywhere.
inline constexpr std::int64_t kAnywhere = std::numeric_limits<std::int64_t>::max();

/// Alive during [lower, upper), upper > lower, with size >= 0 units of the arena.
struct Buffer {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t size = 0;
  std::int64_t alignment = 1;  // the offset is a multiple of it, unless fixed
  std::int64_t from = 0;       // it lies in [from, to), which fix it if they leave just its size
  std::int64_t to = kAnywhere;
  std::vector<Lifetime> gaps = {};  // within its lifetime, in order, apart: it is not alive in these
};

[[nodiscard]] inline bool is_fixed(const Buffer& buffer) { return buffer.to - buffer.from == buffer.size; }

/// Returns the lowest multiple of `alignment` >= `offset`.
[[nodiscard]] constexpr std::int64_t aligned(std::int64_t offset, std::int64_t alignment) {
  if (alignment == 1) return offset;
  const std::int64_t over = offset % alignment;
  return over == 0 ? offset : offset + (alignment - over);
}

/// Returns the periods in which it is alive, in order. Throws nothing but bad_alloc.
[[nodiscard]] std::vector<Lifetime> periods_of(const Buffer& buffer);

/// Throws InternalError for a buffer with an empty lifetime or negative size, for gaps, ranges and alignments
/// that break the rules above, and if sizes, alignments and the highest limit add up to more than 2^62.
void ensure_valid(const std::vector<Buffer>& buffers);

/// Returns two buffers, by index and the lower index first, that are alive at the same time and overlap at
/// these offsets, one per buffer; none: no two do. A buffer of size zero overlaps nothing. O(periods log
/// periods).
[[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> overlap_in(
    const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets);

/// Returns whether there is one offset per buffer, aligned and in its range, and no two buffers that are
/// alive at the same time overlap. O(periods log periods).
[[nodiscard]] bool is_packing(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets);

}  // namespace poet
