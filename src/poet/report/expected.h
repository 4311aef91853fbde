#pragma once

// What steps are expected to take where the device profile says how times vary, as people and programs read
// it.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "poet/plan/timing/variation.h"

namespace poet {

/// One sentence: runtime, waiting for storage and, with a deadline, the share of the steps that meet it.
[[nodiscard]] std::string expected_text(const SimulatedSteps& expected, std::optional<Seconds> deadline);

/// The same as an object; `on_time` is null without a deadline.
[[nodiscard]] nlohmann::ordered_json expected_json(const SimulatedSteps& expected,
                                                   std::optional<Seconds> deadline);

}  // namespace poet
