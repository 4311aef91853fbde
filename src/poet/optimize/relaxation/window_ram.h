#pragma once

// The proof that no plan exists: the least RAM of a window relaxation, which speaks of every plan.

#include <cstdint>

#include "poet/optimize/search/search.h"

namespace poet {

/// A lower bound on the RAM (active bytes; compare with Problem::budget) of every plan within the problem's
/// other limits: window relaxations with the budget for an objective, from the breakpoints at which the
/// search found one without a point (Search::impossible_windows), one more breakpoint after another. At least
/// the largest working set. Ends when the bound exceeds the budget, at `work` simplex iterations, on `stop`,
/// or when no breakpoint is left to add.
[[nodiscard]] double prove_least_ram(Search& search, long work, const Stop& stop);

}  // namespace poet
