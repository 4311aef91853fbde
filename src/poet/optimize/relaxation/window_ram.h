#pragma once

// Proofs of infeasibility: the least RAM of a window relaxation is a lower bound for every plan.

#include <cstdint>

#include "poet/optimize/search/search.h"

namespace poet {

/// Returns a lower bound on the RAM (active bytes; compare with Problem::budget) of every plan within the
/// problem's other limits: at least the largest working set. Solves window relaxations with the budget as the
/// objective, from the breakpoints of an infeasible one (Search::impossible_windows), adding one breakpoint
/// at a time. Ends when the bound exceeds the budget, after `work` simplex iterations, on `stop`, or when no
/// breakpoint is left to add.
[[nodiscard]] double prove_least_ram(Search& search, long work, const Stop& stop);

}  // namespace poet
