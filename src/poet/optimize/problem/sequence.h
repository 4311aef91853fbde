#pragma once

// Plans that only compute, as sequences of ops. Unlike a staged schedule, a sequence may recompute in any
// order.

#include <cstdint>
#include <vector>

#include "poet/optimize/problem/problem.h"

namespace poet {

/// Measured exactly: values leave RAM after the last read before they are computed again.
struct Sequence {
  std::vector<int> ops;           // every op at least once, operands before their readers
  std::vector<std::int64_t> ram;  // while each runs: active bytes; compare with Problem::budget
  double joules = 0;
  double seconds = 0;

  [[nodiscard]] bool within(const Problem& problem) const {
    for (const std::int64_t bytes : ram)
      if (bytes > problem.budget) return false;
    return problem.in_time(seconds);
  }
};

/// O(length + reads and writes of all ops in it).
[[nodiscard]] Sequence measured(const Problem& problem, std::vector<int> ops);

}  // namespace poet
