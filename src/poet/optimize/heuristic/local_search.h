#pragma once

// Improves a schedule without a solver: some decisions are taken back, what then overflows is mended in
// another way, and the result is kept where it is better, or (simulated annealing) not much worse.

#include <cstdint>
#include <functional>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/search/search.h"

namespace poet {

struct LocalSearchOptions {
  long evaluations = 100'000;  // replays of a changed schedule, in all rounds together
  std::uint64_t seed = 1;
};

/// Improves the search's incumbent and offers what is better; whether something was. Rounds of growing
/// length, each cooling down from the best schedule so far. Stops at the evaluations, or when the search is
/// done. Without an incumbent: false.
bool local_search(Search& search, const LocalSearchOptions& options = {});

/// One cooling down from a candidate that fits RAM; a deadline or a write limit that it breaks is sought to
/// be met first. The best one met within the limits, if it is better than the start; else the start.
[[nodiscard]] Candidate anneal(const Problem& problem, const Candidate& start,
                               const LocalSearchOptions& options, const std::function<bool()>& stop);

}  // namespace poet
