#pragma once

// The order of ops as a decision: one in which computing every op once and keeping every value for its last
// use takes little RAM. What a budget then still asks for, recomputation and paging have less to do.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

struct LeastPeakOptions {
  std::uint64_t seed = 1;
  std::optional<long> evaluations = {};  // of orders, at most; absent: usual_evaluations()
};

/// What is worth trying: 1,000 per op, but enough for small graphs, and about a second's worth for large
/// ones.
[[nodiscard]] long usual_evaluations(std::size_t ops);

struct LeastPeak {
  std::vector<OpId> order;  // for reordered() (cost/reorder.h)
  Bytes given;              // keep-all peak of the graph's order, persistent values resident and included
  Bytes peak;               // of this one, as replay_keep_all() of the reordered instance finds it
  long evaluations = 0;     // moves tried
};

/// An allowed order of a low keep-all peak; of equal peaks, one that takes less RAM beyond what the given
/// order takes on average, summed over the ops. The given one if none that was tried is better. List
/// schedules, then simulated annealing from the best of them: runs of ops move within what precedence allows.
/// The same for the same input, seed and evaluations; `stop` is polled and ends it early. `instance` must be
/// verified. O((ops + edges) log ops + evaluations x positions passed).
[[nodiscard]] LeastPeak least_peak_order(const Instance& instance, Semantics semantics,
                                         const LeastPeakOptions& options, const std::function<bool()>& stop);

}  // namespace poet
