#pragma once

// Greedy schedules, without a solver: evict what is cheapest per byte where RAM overflows, then undo
// evictions that turn out to be unnecessary.

#include <functional>
#include <limits>
#include <optional>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/gaps.h"

namespace poet {

inline constexpr long kAnyWork = std::numeric_limits<long>::max();

/// Returns the cheapest schedule within all limits that greedy eviction finds, or nullopt.
///
/// Starts from keep-all and evicts values across the stage of worst overflow, least energy per byte and
/// overflowing stage first, until RAM fits; then undoes unnecessary evictions. Tries several policies (both
/// mechanisms, paging only, recomputation only, least time) and, if none fits, random ones. If RAM fits but
/// the deadline or the write limit is violated, a short local search follows. `stop` is polled. All policies
/// together end after `most_work` (Repair::work()), with the best schedule so far: unlike a clock, the same
/// on every machine. O(values + stages + ops of the recomputations that are priced) per eviction.
[[nodiscard]] std::optional<Candidate> greedy(const Problem& problem, const std::function<bool()>& stop,
                                              long most_work = kAnyWork);

/// Starts from the given modes instead: repairs them if they do not fit, then improves them.
[[nodiscard]] std::optional<Candidate> greedy_from(const Problem& problem, const std::vector<GapMode>& modes,
                                                   const std::function<bool()>& stop);
/// Starts from the given decisions instead.
[[nodiscard]] std::optional<Candidate> greedy_from(const Problem& problem, const Decisions& decisions,
                                                   const std::function<bool()>& stop);

/// Returns a schedule of little RAM: bisects the least budget that each policy meets. Its peak is an upper
/// bound on the least feasible RAM.
[[nodiscard]] Candidate lean_schedule(const Problem& problem, const std::function<bool()>& stop);

}  // namespace poet
