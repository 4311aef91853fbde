#pragma once

// Every plan of a small graph of which nothing can be paged, recomputations in any order included: a staged
// schedule recomputes in index order within a stage.

#include <optional>
#include <vector>

#include "poet/base/stop.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

struct EveryPlan {
  /// Lower bound on the joules of every plan in the order of ops; infinite: there is none.
  double bound = 0;
  /// The computations, in order, of a plan that needs just that; empty if the search was given up, or the
  /// deadline, which the bound leaves out, is missed.
  std::vector<int> computations;
};

[[nodiscard]] bool has_few_ops(const Instance& instance);

/// Returns whether the problem is so small that search_every_plan() takes a moment.
[[nodiscard]] bool has_few_plans(const Problem& problem);

/// Dijkstra's algorithm over how many ops were computed for the first time and what is in RAM. Gives up after
/// half a million states, or when `stop` says so. O(states x ops x log states).
[[nodiscard]] EveryPlan search_every_plan(const Problem& problem, const Stop& stop);

}  // namespace poet
