#pragma once

// The plan of a point, stored for display.

#include <string>

#include "poet/plan/file/plan_file.h"
#include "poet/study/run_method.h"

namespace poet {

/// Returns the plan of a judged method with addresses from a short search: methods are judged by the RAM of
/// their plans, not by the arena. There must be a plan.
[[nodiscard]] PlanFile placed_plan(const Method& method, const MethodRequest& request, const Judged& judged);

/// Returns the content of a plan file: binary, or JSON if the binary form cannot hold the plan.
[[nodiscard]] std::string plan_text(const PlanFile& plan);

}  // namespace poet
