#pragma once

// Finds where the solution of a window relaxation overflows in every realization. The relaxation decides in
// which window a value is recomputed or paged in, not in which stage, and ignores RAM between breakpoints: a
// breakpoint belongs where no choice of stages fits.

#include <vector>

#include "poet/optimize/relaxation/window_decisions.h"

namespace poet {

/// Returns, per stage, the mean bytes beyond the budget while simulated annealing shifts the decisions within
/// their windows to reduce the overflow. Deterministic. O(windows * ops + shifts * stages changed by each).
[[nodiscard]] std::vector<double> pressure(const Problem& problem, const StageWindows& windows,
                                           const WindowDecisions& decided);

}  // namespace poet
