#pragma once

// Plans with synchronous (op-granular) paging: compute waits between two ops until a value has left.
//
// In a staged schedule a transfer holds RAM during whole stages, so that it can overlap compute. If RAM is
// scarce, a plan that waits for each page-out before it continues does better: it needs only the RAM of the
// paper's instantaneous transfers. So schedules are searched for under the paper's RAM rule (with scratch
// memory), and their transfers then overlap compute as far as RAM allows.

#include <optional>
#include <vector>

#include "poet/optimize/outcome.h"
#include "poet/optimize/search/instant_transfers.h"

namespace poet {

/// Returns the best plan found and some earlier best ones, by increasing energy (plans_found.h): by greedy
/// and local search for several estimates of the idle energy of transfers. Empty if everything fits, nothing
/// can be paged, or no plan within the limits is found. When stopped, returns the best so far. Device
/// semantics. Effort is counted in evaluations; `options` say which mechanisms are allowed.
[[nodiscard]] std::vector<SynchronousPlan> search_synchronous(const SolveRequest& request,
                                                              const SolveOptions& options, const Stop& stop);

/// Returns the best plan from repairing decisions that exceed the request's RAM, or of greedy if there are no
/// decisions; nullopt if none is found. O(greedy_from()).
[[nodiscard]] std::optional<SynchronousPlan> fitted(const SolveRequest& request, const SolveOptions& options,
                                                    const Decisions& decisions, const Stop& stop);

}  // namespace poet
