#pragma once

// Where the answer of a window relaxation overflows however it is carried out. The relaxation says in which
// window something is recomputed or paged in, not in which stage of it, and does not see RAM between
// breakpoints: a breakpoint belongs where no choice of stages fits.

#include <vector>

#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// Per stage: the mean of the bytes beyond the budget while the decisions, each in some stage of its window,
/// are shifted by simulated annealing so that less overflows. The same answer for the same input. O(windows *
/// ops + shifts * what each changes).
[[nodiscard]] std::vector<double> pressure(const Problem& problem, const StageWindows& windows,
                                           const WindowDecisions& decided);

}  // namespace poet
