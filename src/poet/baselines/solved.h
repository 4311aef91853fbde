#pragma once

#include "poet/baselines/method.h"

namespace poet {

/// compile()'s plan, without addresses. Without one the reason says whether there is none or none was found.
[[nodiscard]] MethodAnswer solved_plan(const MethodRequest& request, const SolveOptions& options,
                                       bool choose_paged = false);

}  // namespace poet
