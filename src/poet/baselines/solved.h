#pragma once

#include "poet/baselines/method.h"

namespace poet {

/// Returns the plan of compile() without addresses. If there is none, the reason says whether the problem is
/// infeasible or no plan was found.
[[nodiscard]] MethodAnswer solved_plan(const MethodRequest& request, const SolveOptions& options,
                                       bool choose_paged = false);

}  // namespace poet
