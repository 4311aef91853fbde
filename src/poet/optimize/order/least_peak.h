#pragma once

// Topological orders with a low keep-all peak: the RAM of computing every op once and keeping every value
// until its last use. Such an order leaves less to recompute and page.

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
  std::optional<long> evaluations = {};  // limit on orders evaluated; absent: usual_evaluations()
};

/// Returns 1,000 evaluations per op, more for small graphs, and about a second's worth for large ones.
[[nodiscard]] long usual_evaluations(std::size_t ops);

struct LeastPeak {
  std::vector<OpId> order;  // for reordered() (cost/reorder.h)
  Bytes given;              // keep-all peak of the graph's order, with persistent values resident
  Bytes peak;               // of this order: replay_keep_all() of the reordered instance
  long evaluations = 0;     // moves tried
};

/// Returns a topological order of a low keep-all peak, or the given order if none tried is better. Among
/// equal peaks, one with less RAM above the given order's mean, summed over the ops. Runs list schedules,
/// then simulated annealing from the best of them, which moves runs of ops within their precedence windows.
/// Deterministic for the same input, seed and evaluations; `stop` is polled and ends it early. `instance`
/// must be verified. O((ops + edges) log ops + evaluations * positions passed).
[[nodiscard]] LeastPeak least_peak_order(const Instance& instance, Semantics semantics,
                                         const LeastPeakOptions& options, const std::function<bool()>& stop);

}  // namespace poet
