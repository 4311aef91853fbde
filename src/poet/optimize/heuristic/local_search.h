#pragma once

// Local search without a solver: undoes some decisions, repairs the overflow in another way, and accepts the
// result if it is better or, by simulated annealing, not much worse.

#include <cstdint>
#include <functional>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/search/search.h"

namespace poet {

struct LocalSearchOptions {
  long evaluations = 100'000;  // replays of changed schedules, over all rounds
  std::uint64_t seed = 1;
};

/// Improves the search's incumbent; returns whether it did. Runs rounds of growing length, each cooling down
/// from the best schedule so far, until the evaluations are used up or the search is done. Returns false
/// without an incumbent.
bool local_search(Search& search, const LocalSearchOptions& options = {});

/// Cools down once from a candidate that fits RAM; if it violates the deadline or the write limit, meeting
/// them comes first. Returns the best candidate within the limits if it is better than the start, else the
/// start.
[[nodiscard]] Candidate anneal(const Problem& problem, const Candidate& start,
                               const LocalSearchOptions& options, const std::function<bool()>& stop);

}  // namespace poet
