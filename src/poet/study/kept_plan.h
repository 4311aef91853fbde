#pragma once

// The plan behind a point, to be looked at later.

#include <string>

#include "poet/plan/file/plan_file.h"
#include "poet/study/run_method.h"

namespace poet {

/// The plan of a judged method with addresses, which are searched for a moment only: methods are judged by
/// what is in RAM, and an arena with gaps is nothing against them. There must be a plan.
[[nodiscard]] PlanFile placed_plan(const Method& method, const MethodRequest& request, const Judged& judged);

/// What a plan file holds: binary, or JSON where the steps are in no order that the binary form has.
[[nodiscard]] std::string plan_text(const PlanFile& plan);

}  // namespace poet
