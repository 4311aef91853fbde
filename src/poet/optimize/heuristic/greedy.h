#pragma once

// Schedules at once, without a solver: evict what is cheapest per byte where RAM overflows, then take back
// what was not needed after all.

#include <functional>
#include <optional>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/gaps.h"

namespace poet {

/// Starting from keep-all, what bridges the stage of worst overflow is taken from RAM, least energy per byte
/// and overflowing stage first, until all fits; then what was not needed after all is taken back. Policies
/// (both mechanisms, paging only, recomputing only, least time) are tried and, where none fits, some at
/// random. Where RAM can be met but the deadline or the write limit is not, a short local search seeks to.
/// The cheapest result within all limits is returned. `stop` is polled. O(values + stages) a step, a step per
/// value that must leave.
[[nodiscard]] std::optional<Candidate> greedy(const Problem& problem, const std::function<bool()>& stop);

/// The same from given modes: made to fit where they do not, then improved.
[[nodiscard]] std::optional<Candidate> greedy_from(const Problem& problem, const std::vector<GapMode>& modes,
                                                   const std::function<bool()>& stop);
/// From given decisions.
[[nodiscard]] std::optional<Candidate> greedy_from(const Problem& problem, const Decisions& decisions,
                                                   const std::function<bool()>& stop);

/// A schedule of little RAM: for each policy, the least budget that it can meet, by bisection. Its peak
/// bounds the least feasible RAM from above.
[[nodiscard]] Candidate lean_schedule(const Problem& problem, const std::function<bool()>& stop);

}  // namespace poet
