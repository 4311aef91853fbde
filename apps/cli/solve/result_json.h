#pragma once

#include <nlohmann/json_fwd.hpp>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// The result as programs read it: SI units in the names, null where a figure does not apply
///.
[[nodiscard]] nlohmann::ordered_json result_json(const Solved& solved);

}  // namespace poet::cli
