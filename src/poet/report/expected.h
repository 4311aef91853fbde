#pragma once

// Expected times of steps, for device profiles that state the variation of times.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "poet/plan/timing/variation.h"

namespace poet {

/// Returns a sentence: runtime, time stalled on storage and, with a deadline, the share of steps that meet
/// it.
[[nodiscard]] std::string expected_text(const SimulatedSteps& expected, std::optional<Seconds> deadline);

/// Returns the same as JSON; `on_time` is null without a deadline.
[[nodiscard]] nlohmann::ordered_json expected_json(const SimulatedSteps& expected,
                                                   std::optional<Seconds> deadline);

}  // namespace poet
