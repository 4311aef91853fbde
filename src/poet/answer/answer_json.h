#pragma once

// Answers as programs read them: SI units in the names, null where a figure does not apply.

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "poet/answer/answer.h"
#include "poet/plan/timing/variation.h"

namespace poet {

/// docs/formats.md, "Result". Texts of the library name what the caller sets in backquotes: `ram_budget`.
[[nodiscard]] nlohmann::ordered_json to_json(const Answer& answer);

}  // namespace poet
