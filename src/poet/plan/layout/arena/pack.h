#pragma once

// Offline dynamic storage allocation: assigns offsets in one arena to buffers with known lifetimes and sizes
// such that no two that are alive at the same time overlap. Strongly NP-hard. Independent of graphs.

#include <cstdint>
#include <limits>
#include <vector>

#include "poet/base/stop.h"

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

struct Packing {
  std::vector<std::int64_t> offsets;  // one per buffer; none if what may not lie anywhere was not placed
  std::int64_t height = 0;            // the arena: the highest end of a buffer; kAnywhere without offsets
  std::int64_t lower_bound = 0;       // on the height of any packing
  std::int64_t nodes = 0;             // of the search
};

struct PackOptions {
  std::int64_t good_enough = 0;       // the search ends at a height up to this one
  std::int64_t capacity = kAnywhere;  // and once no packing is that low
  std::int64_t effort =
      6'000'000'000;  // elementary steps, 6e8 to 1.4e9 in a second; same effort, same packing
  Stop stop{};        // polled often; ends with the best packing so far
};

/// Returns the lowest packing found within the effort, optimal if height == lower_bound: first-fit over
/// several orders, then branch and bound with restarts (pack_search.h) on capacities from the lower bound
/// (the greatest sum of sizes alive at one time, raised by whatever the search shows impossible) to the best
/// height known; a lower bound of kAnywhere says that there is no packing. Always finds one if every buffer
/// may lie anywhere: one first-fit, O(buffers^2), does not count as effort. Memory O(buffers); up to 2,000
/// buffers, which alone are searched, O(buffers^2). Throws InternalError for a buffer with an empty lifetime
/// or negative size, for gaps, ranges and alignments that break the rules above, and if sizes, alignments and
/// the highest limit add up to more than 2^62.
[[nodiscard]] Packing pack(const std::vector<Buffer>& buffers, const PackOptions& options = {});

/// Returns whether there is one offset per buffer, aligned and in its range, and no two buffers that are
/// alive at the same time overlap. A buffer of size zero overlaps nothing. O(buffers log buffers + pairs
/// alive together).
[[nodiscard]] bool is_packing(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets);

}  // namespace poet
