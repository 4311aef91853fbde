#pragma once

// Decides whether there is a packing of at most a given height, by branch and bound like MiniMalloc (Moffitt,
// ASPLOS 2023).

#include "poet/plan/layout/arena/sections.h"

namespace poet {

enum class PackStatus { found, impossible, gave_up };

struct PackAnswer {
  PackStatus status = PackStatus::gave_up;
  std::vector<std::int64_t> offsets;  // when found
  std::int64_t nodes = 0;
  std::int64_t effort = 0;
};

/// Limits of one search. Effort counts the buffers and sections visited.
struct PackLimits {
  std::int64_t capacity = 0;
  std::int64_t nodes = 0;
  std::int64_t effort = 0;
};

/// `buffers` of size > 0 with their sections; `order` holds each of them once: of those that may lie equally
/// low, the first in the order is tried first. 'Impossible' only after a complete search. Depth and memory:
/// O(buffers) calls deep, O(buffers^2) integers at worst.
[[nodiscard]] PackAnswer search_packing(const std::vector<Buffer>& buffers, const Sections& sections,
                                        const std::vector<int>& order, const PackLimits& limits,
                                        const Stop& stop);

}  // namespace poet
