#pragma once

#include <nlohmann/json_fwd.hpp>

#include "apps/shared/training/session.h"

namespace poet::cli {

/// Returns the planned figures under the names of `poet solve --json`, "losses" and "measured".
[[nodiscard]] nlohmann::ordered_json session_json(const Session& session);

}  // namespace poet::cli
