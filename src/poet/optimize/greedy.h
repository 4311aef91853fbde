#pragma once

// A first schedule at once, without a solver: evict what is cheapest per byte where RAM overflows, then take
// back what was not needed after all.

#include <functional>
#include <optional>

#include "poet/optimize/candidate.h"
#include "poet/optimize/problem.h"

namespace poet {

struct GreedyResult {
  std::optional<Candidate> within;  // the cheapest one found that is within all limits
  Candidate leanest;                // the one of least peak RAM met on the way
};

/// Between two first uses a value is kept, paged, or recomputed just in time. Starting from keep-all, gaps
/// that bridge the stage of worst overflow are emptied by least energy per byte, until all fits; three
/// policies (both means, paging only, recomputing only) are tried. `stop` is polled. O(gaps) replays in the
/// worst case.
[[nodiscard]] GreedyResult greedy(const Problem& problem, const std::function<bool()>& stop);

/// A schedule of little RAM: the leanest met while emptying gaps as far as that helps. Its peak bounds the
/// least feasible RAM from above.
[[nodiscard]] Candidate lean_schedule(const Problem& problem, const std::function<bool()>& stop);

}  // namespace poet
