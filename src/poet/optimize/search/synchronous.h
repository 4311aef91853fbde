#pragma once

// Plans with synchronous (op-granular) paging: compute waits between two ops until a value has left.
//
// In a staged schedule a transfer holds RAM during whole stages, so that it may run beside compute. Where RAM
// is scarce, a plan does better that sends a value, waits until it has left, and only then goes on: its RAM
// is what the paper's instantaneous transfers need. So schedules are sought under the paper's rule for RAM
// (with scratch memory), and their transfers then moved beside compute as far as RAM allows.

#include <optional>
#include <vector>

#include "poet/optimize/outcome.h"
#include "poet/optimize/quick_energy.h"
#include "poet/optimize/search/instant_transfers.h"

namespace poet {

/// The best found, and some that were the best before it, of least energy first (plans_found.h): by greedy
/// and local search for several guesses of how much idle power transfers will cost. Nothing where everything
/// fits, nothing can be paged, or no plan within the limits was found. Stopped: the best so far. Device
/// semantics. Effort is counted in evaluations; `options` say which mechanisms are allowed.
[[nodiscard]] std::vector<SynchronousPlan> search_synchronous(const SolveRequest& request,
                                                              const SolveOptions& options, const Stop& stop);

/// The best plan of decisions that need more RAM than the request has, made to fit it, or of greedy without
/// decisions. Nothing where there is none. O(greedy_from()).
[[nodiscard]] std::optional<SynchronousPlan> fitted(const SolveRequest& request, const SolveOptions& options,
                                                    const Decisions& decisions, const Stop& stop);

}  // namespace poet
