#pragma once

// Which problems need a search for synchronous plans, and greedy with local search.

#include <array>

#include "poet/optimize/options.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/search/best_plan.h"

namespace poet {

/// Estimates of the share of a transfer's time during which compute waits. The plan determines the true
/// share.
inline constexpr std::array kWaiting = {0.0, 0.3, 1.0};
inline constexpr std::size_t kLikely = 1;  // of these

/// Returns whether everything can be kept. O(ops + edges).
[[nodiscard]] bool keeps_all(const Problem& problem);

/// Returns whether some op's working set exceeds the RAM budget.
[[nodiscard]] bool is_below_floor(const Problem& problem);

/// Adds the plans of the best candidates of greedy and local search.
void search_candidates(const Problem& problem, const SolveOptions& options, const Stop& stop, BestPlan& plans,
                       double part_of_effort = 1);

}  // namespace poet
