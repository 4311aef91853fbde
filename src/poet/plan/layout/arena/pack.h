#pragma once

// Offline dynamic storage allocation: assigns offsets in one arena to buffers with known lifetimes and sizes
// such that no two that are alive at the same time overlap. Strongly NP-hard. Independent of graphs.

#include <cstdint>
#include <vector>

#include "poet/base/stop.h"
#include "poet/plan/layout/arena/buffer.h"

namespace poet {

/// Of more buffers that take room first-fit alone decides: the search goes as deep as there are buffers and
/// copies what is left at each level.
inline constexpr std::size_t kMostSearched = 2000;

struct Packing {
  std::vector<std::int64_t> offsets;  // one per buffer; none if what may not lie anywhere was not placed
  std::int64_t height = 0;            // the arena: the highest end of a buffer; kAnywhere without offsets
  std::int64_t lower_bound = 0;       // on the height of any packing
  std::int64_t nodes = 0;             // of the search
};

struct PackOptions {
  std::int64_t good_enough = 0;         // the search ends at a height up to this one
  std::int64_t capacity = kAnywhere;    // and once no packing is that low
  std::int64_t effort = 6'000'000'000;  // steps, about 1e9 in a second; same effort, same packing
  Stop stop{};                          // polled often; ends with the best packing so far
};

/// Returns the lowest packing found within the effort, optimal if height == lower_bound: first-fit over
/// several orders, then branch and bound with restarts (pack_search.h) on capacities from the lower bound
/// (the greatest sum of sizes alive at one time, raised by whatever the search shows impossible) to the best
/// height known; a lower bound of kAnywhere says that there is no packing. Always finds one if every buffer
/// may lie anywhere: one first-fit, O(buffers^2), does not count as effort. Memory O(buffers); up to
/// kMostSearched buffers, O(buffers^2). Throws InternalError as ensure_valid() does.
[[nodiscard]] Packing pack(const std::vector<Buffer>& buffers, const PackOptions& options = {});

}  // namespace poet
