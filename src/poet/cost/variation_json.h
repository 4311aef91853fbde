#pragma once

#include <nlohmann/json_fwd.hpp>

#include "poet/cost/json_reader.h"
#include "poet/cost/variation.h"

namespace poet {

/// The field `p95_over_median` of device profiles and of instances' `device` and `timing`. Throws InputError
/// naming the field and the rule.
[[nodiscard]] TimeVariation read_variation(const JsonField& json);
[[nodiscard]] nlohmann::ordered_json to_json(const TimeVariation& variation);

}  // namespace poet
