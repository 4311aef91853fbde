#pragma once

// Offline dynamic storage allocation: assigns offsets in one arena to buffers with known lifetimes and sizes
// such that no two that are alive at the same time overlap. Strongly NP-hard. Independent of graphs.

#include <cstdint>
#include <vector>

#include "poet/base/stop.h"

namespace poet {

/// Alive during [lower, upper), upper > lower, with size >= 0 units of the arena.
struct Buffer {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t size = 0;
};

struct Packing {
  std::vector<std::int64_t> offsets;  // one per buffer
  std::int64_t height = 0;            // the arena: the highest end of a buffer
  std::int64_t lower_bound = 0;       // on the height of any packing
  std::int64_t nodes = 0;             // of the search
};

struct PackOptions {
  std::int64_t good_enough = 0;         // the search ends at a height up to this one
  std::int64_t effort = 2'500'000'000;  // elementary steps, 6e8 to 1e9 in a second; same effort, same packing
  Stop stop{};                          // polled often; ends with the best packing so far
};

/// Returns the lowest packing found within the effort, optimal if height == lower_bound: first-fit over
/// several orders, then branch and bound with restarts (pack_search.h) on capacities from the lower bound
/// (the greatest sum of sizes alive at one time, raised by whatever the search shows impossible) to the best
/// height known. Always finds a packing: one first-fit, O(buffers^2), does not count as effort. Memory
/// O(buffers); up to 2,000 buffers, which alone are searched, O(buffers^2). Throws InternalError for a buffer
/// with an empty lifetime or negative size, and if the sum of all sizes exceeds 2^62.
[[nodiscard]] Packing pack(const std::vector<Buffer>& buffers, const PackOptions& options = {});

/// Returns whether there is one offset >= 0 per buffer and no two buffers that are alive at the same time
/// overlap. A buffer of size zero overlaps nothing. O(buffers log buffers + pairs alive together).
[[nodiscard]] bool is_packing(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets);

}  // namespace poet
