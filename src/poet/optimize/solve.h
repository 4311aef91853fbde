#pragma once

#include "poet/optimize/outcome.h"
#include "poet/optimize/search/synchronous_search.h"

namespace poet {

/// The schedule of least energy within the limits, with a proven bound.
///
/// A greedy schedule at once; then rounds of doubling effort: window relaxations (bound and hint), local
/// search, restricted MIPs and neighbourhoods around the best schedule, and, where it fits in memory, the
/// full MIP. Every accepted schedule has been replayed exactly. Ends at the gap asked for, with `stop`
/// (within half a second), or when nothing is left to try. Effort is counted in simplex iterations and
/// replays, not in seconds: equal input and options give the equal schedule, unless `stop` strikes.
/// `synchronous` is told what relaxations decide, and its plans count as known, but for large problems.
/// Throws InputError only for options that contradict each other (published formulation outside the published
/// semantics).
[[nodiscard]] Outcome solve(const SolveRequest& request, const SolveOptions& options, const Stop& stop,
                            SynchronousSearch* synchronous = nullptr);
/// Its time begins now.
[[nodiscard]] inline Outcome solve(const SolveRequest& request, const SolveOptions& options = {}) {
  return solve(request, options, stop_of(options));
}

}  // namespace poet
