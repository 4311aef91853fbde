#pragma once

#include <nlohmann/json_fwd.hpp>

#include "poet/study/run_method.h"

namespace poet {

/// A row of `poet compare --json` (docs/formats_result.md, "Compare"): null where a figure does not apply.
[[nodiscard]] nlohmann::ordered_json to_json(const Method& method, const Judged& judged);

}  // namespace poet
