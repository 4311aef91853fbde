#pragma once

// The order in which a set of ops can be recomputed in the least RAM.

#include <cstdint>
#include <limits>
#include <vector>

#include "poet/optimize/problem/problem.h"

namespace poet {

/// Ops to be recomputed between the first computations of two others. All sets increase.
struct OpsToOrder {
  std::vector<int> once;       // each once
  std::vector<int> optional;   // each once, or never
  std::vector<int> any_times;  // each any number of times, or never
  std::vector<int> before;     // values in RAM before
  std::vector<int> needed;     // values in RAM in the end
};

struct LeastOrder {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  bool is_known = true;       // false: the search was given up, after 50,000 states
  std::int64_t ram = kNever;  // of these values, those needed in the end included; kNever: there is no order
  std::vector<int> ops{};     // in order
  std::int64_t states = 0;    // visited
};

/// Values that are in RAM before and not touched by the ops do not count, unless they are needed. O(states x
/// values).
[[nodiscard]] LeastOrder least_order(const Problem& problem, const OpsToOrder& set);

}  // namespace poet
