#pragma once

// The verdict on a plan that was loaded from a file.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "poet/report/loaded_plan.h"

namespace poet {

/// Returns the first rule violated by the stages of a schedule, by the plan or by its addresses; empty if all
/// are valid.
[[nodiscard]] std::string violated_rule(const LoadedPlan& loaded);
[[nodiscard]] bool is_valid(const LoadedPlan& loaded);

/// Returns the verdict with all figures as JSON (docs/formats_result.md, "Verify"); null figures if invalid.
[[nodiscard]] nlohmann::ordered_json verdict_json(const LoadedPlan& loaded);

}  // namespace poet
