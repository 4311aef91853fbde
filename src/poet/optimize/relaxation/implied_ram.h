#pragma once

// The RAM that a point of a window relaxation implies between breakpoints, where the relaxation counts none.

#include <vector>

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// Returns, per stage, the least RAM of any schedule that agrees with point x of the model: what it says is
/// kept across a gap fills RAM all the way. Where this exceeds the budget, a breakpoint cuts off x.
[[nodiscard]] std::vector<double> ram_implied(const Problem& problem, const StageWindows& windows,
                                              const WindowModel& model, const std::vector<double>& x,
                                              const Gaps& gaps);

}  // namespace poet
