#pragma once

// The verdict on a plan that was loaded from a file.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "poet/report/loaded_plan.h"

namespace poet {

/// The first rule that is violated, by the stages of a schedule, by the plan or by its addresses; empty:
/// none.
[[nodiscard]] std::string violated_rule(const LoadedPlan& loaded);
[[nodiscard]] bool is_valid(const LoadedPlan& loaded);

/// For programs: the verdict with every figure, null of what is not valid (docs/formats.md, "Result").
[[nodiscard]] nlohmann::ordered_json verdict_json(const LoadedPlan& loaded);

}  // namespace poet
