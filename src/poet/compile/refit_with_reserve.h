#pragma once

// Plans with addresses, from the decisions of a plan whose addresses do not fit.

#include <optional>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/optimize/options.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/search/streamed_plan.h"

namespace poet {

/// Re-plans with the given decisions, or greedy ones if they are empty, reserving RAM for fragmentation,
/// until the layout fits. Up to four attempts, each with a larger reserve, the first a little above `over`,
/// by which the layout of those decisions exceeds the budget. Returns nullopt if none fits. Device semantics.
/// The plan is not verified and may miss the deadline. O(fitted() + place()) per attempt.
[[nodiscard]] std::optional<PlacedPlan> refit_with_reserve(const Instance& instance, const Limits& limits,
                                                           const SolveOptions& options,
                                                           const Decisions& decided, Bytes over,
                                                           const Stop& stop);

}  // namespace poet
