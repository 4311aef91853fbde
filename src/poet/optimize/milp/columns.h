#pragma once

// The decisions that a model may take. The full set is exact; subsets yield schedules but no bounds.

#include <vector>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

struct Columns {
  Decisions allowed;              // per stage: what may be recomputed, paged in, paged out
  bool page_out_anytime = false;  // the stage of a page-out is open, and it takes no RAM (exact in published
                                  // semantics, else a relaxation)
};

/// Every decision that some optimal schedule could take.
[[nodiscard]] Columns full_columns(const Problem& problem);

/// Decisions just in time for a first computation: recompute at most `depth` levels of producers in the stage
/// that needs them or in the `width` stages before it, page in during the `width` stages before (at least
/// one), page out in the first `width` stages after production.
[[nodiscard]] Columns just_in_time_columns(const Problem& problem, int depth, int width);

/// Adds every decision of `more`.
void merge(Columns& columns, const Decisions& more);

/// Beyond this many columns the full model's root relaxation takes minutes and gigabytes.
inline constexpr long kMostFullColumns = 250'000;

/// Estimates the number of columns of a model of `columns`.
[[nodiscard]] long estimated_columns(const Problem& problem, const Columns& columns);
/// Estimates likewise for full_columns(), without building them, as they are quadratic in ops. O(ops +
/// values).
[[nodiscard]] long estimated_full_columns(const Problem& problem, bool page_out_anytime);

}  // namespace poet
