#pragma once

#include "poet/optimize/outcome.h"
#include "poet/optimize/search/synchronous_search.h"

namespace poet {

/// Searches for the schedule of least energy within the limits; returns the incumbent and proven bounds.
///
/// A greedy schedule comes first; then rounds of doubling effort: window relaxations (bounds and hints),
/// local search, restricted MIPs and neighbourhoods around the incumbent, and the full MIP if it fits in
/// memory. Every incumbent has been replayed exactly. Ends at the requested gap, within half a second of
/// `stop`, or when nothing is left to try. Effort is counted in simplex iterations and replays, not in
/// seconds: equal input and options give the same schedule unless `stop` ends the search. Except on large
/// problems, `synchronous` searches from the solutions of relaxations, and its plans count as incumbents.
/// Throws InputError for the published formulation outside published semantics, and for a solver that is not
/// built in.
[[nodiscard]] Outcome solve(const SolveRequest& request, const SolveOptions& options, const Stop& stop,
                            SynchronousSearch* synchronous = nullptr);
/// The time limit begins now.
[[nodiscard]] inline Outcome solve(const SolveRequest& request, const SolveOptions& options = {}) {
  return solve(request, options, stop_of(options));
}

}  // namespace poet
