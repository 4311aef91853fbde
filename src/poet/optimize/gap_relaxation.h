#pragma once

// A bound in a fraction of a second, and a hint where the optimum is: what must leave RAM, priced at its
// cheapest return.

#include "poet/optimize/gaps.h"
#include "poet/optimize/search.h"

namespace poet {

struct GapRelaxation {
  /// Joules that no schedule undercuts.
  double bound = 0;
  /// Its best choice per gap (Gaps::all()), not yet a schedule that fits; empty when none was found.
  std::vector<Mode> modes;
};

/// Between two consecutive first uses (or production and first use) a value either stays in RAM, or returns
/// at least once: by a page-in (and one page-out per value) or by recomputing its producer. While op t runs,
/// values that stay across t and t's own working set fit the budget. Recomputing is charged at the op's own
/// cost alone (shared among its results by their bytes), operands as if at hand: hence a relaxation, of one
/// or two columns per gap instead of one per stage and value. Solved as a MIP for at most `work` simplex
/// iterations; its proven bound is returned. O(gaps + sum of live values over ops) entries.
[[nodiscard]] GapRelaxation gap_relaxation(Search& search, long work);

}  // namespace poet
