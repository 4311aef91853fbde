#pragma once

// Dynamic storage allocation, offline: buffers with known lifetimes and sizes get offsets in one arena, such
// that no two that live at the same time overlap. Strongly NP-hard; planned in numbers only, nothing here
// knows of graphs.

#include <cstdint>
#include <vector>

#include "poet/base/stop.h"

namespace poet {

/// Lives during [lower, upper), upper > lower, and takes size >= 0 units of the arena.
struct Buffer {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t size = 0;
};

struct Packing {
  std::vector<std::int64_t> offsets;  // one per buffer
  std::int64_t height = 0;            // the arena: the highest end of a buffer
  std::int64_t lower_bound = 0;       // no packing is lower
  std::int64_t nodes = 0;             // of the search
};

struct PackOptions {
  std::int64_t good_enough = 0;         // a height up to this one will do
  std::int64_t effort = 2'500'000'000;  // elementary steps, 6e8 to 1e9 in a second; same effort, same packing
  Stop stop{};                          // polled often; ends with the best packing so far
};

/// The lowest packing that the effort finds, optimal where height == lower_bound: first-fit over several
/// orders, then branch and bound with restarts (pack_search.h) on capacities from the lower bound (the
/// greatest sum of sizes alive at one time, raised by whatever the search shows impossible) to the best
/// height known. Finds a packing always: one first-fit, O(buffers^2), is free. Memory O(buffers); up to 2,000
/// buffers, which alone are searched, O(buffers^2). Throws InternalError for a buffer without lifetime or of
/// negative size, and where the sum of all sizes passes 2^62.
[[nodiscard]] Packing pack(const std::vector<Buffer>& buffers, const PackOptions& options = {});

/// No two buffers that live at the same time overlap, none lies below zero, there is one offset per buffer. A
/// buffer of size zero overlaps nothing. O(buffers log buffers + pairs alive together).
[[nodiscard]] bool is_packing(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets);

}  // namespace poet
