#pragma once

// Schedules at once, without a solver: evict what is cheapest per byte where RAM overflows, then take back
// what was not needed after all.

#include <functional>
#include <optional>

#include "poet/optimize/candidate.h"
#include "poet/optimize/gaps.h"

namespace poet {

/// Starting from keep-all, gaps that bridge the stage of worst overflow are emptied by least energy per byte,
/// until all fits; policies (both means, paging only, recomputing only, least time) are tried, the cheapest
/// result within all limits is returned. `stop` is polled. O(gaps) replays in the worst case.
[[nodiscard]] std::optional<Candidate> greedy(const Problem& problem, const std::function<bool()>& stop);

/// The same from given modes: made to fit where they do not, then improved.
[[nodiscard]] std::optional<Candidate> greedy_from(const Problem& problem, std::vector<Mode> modes,
                                                   const std::function<bool()>& stop);

/// A schedule of little RAM: the leanest met while emptying gaps as far as that helps. Its peak bounds the
/// least feasible RAM from above.
[[nodiscard]] Candidate lean_schedule(const Problem& problem, const std::function<bool()>& stop);

}  // namespace poet
