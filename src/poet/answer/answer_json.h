#pragma once

// Answers as JSON: SI units in the names, null for figures that do not apply.

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "poet/answer/answer.h"
#include "poet/plan/timing/variation.h"

namespace poet {

/// Returns the JSON of docs/formats_result.md, "Solve". Texts name the library's fields in backquotes:
/// `ram_budget`.
[[nodiscard]] nlohmann::ordered_json to_json(const Answer& answer);

}  // namespace poet
