#pragma once

// Why there is no plan, and the nearest limits that allow one.

#include <functional>

#include "poet/optimize/outcome.h"
#include "poet/optimize/search/search.h"

namespace poet {

/// Returns the RAM floor, which is the largest working set of one op, and that op.
[[nodiscard]] Explanation ram_floor(const Problem& problem);

/// Returns whether counting alone proves infeasibility: an op's working set exceeds the budget, or the
/// deadline is shorter than computing everything once. Fills explanation.reason then.
bool explain_impossible(const Problem& problem, Explanation& explanation);

/// Returns the seconds of the time limit that a search without a schedule leaves for the explanation.
[[nodiscard]] double seconds_for_reason(const SolveOptions& options);

/// Explains a search that ended without a schedule: fills in the least RAM at the given deadline and the
/// least deadline at the given RAM for which a schedule is found, and the reason. Takes seconds_for_reason(),
/// or a moment if time is up. A schedule found on the way becomes the incumbent. Returns whether the problem
/// is infeasible: by explain_impossible(), whose reason is set already, or by prove_least_ram(). `improve`
/// runs a search until it is done, here for the deadline.
bool explain_no_answer(Search& search, Explanation& why, const std::function<void(Search&)>& improve);

/// Returns the least RAM budget (persistent bytes included) for which a schedule within the other limits is
/// found within the time limit; nullopt if none is.
[[nodiscard]] std::optional<Bytes> least_ram(const SolveRequest& request, const SolveOptions& options);

}  // namespace poet
