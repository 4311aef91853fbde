#pragma once

// A job as clients see it.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/server/jobs/job.h"

namespace poet::server {

/// {"id", "kind", "state", "version", "client", "ahead", "attempts", "submitted", "started", "finished",
/// "progress", "error",
///  "has_plan"} and, where wanted, "request". Times are seconds since 1970; what is not known yet is null.
[[nodiscard]] nlohmann::ordered_json job_json(const Job& job, bool with_request);

/// The same as one server-sent event named "job".
[[nodiscard]] std::string event_text(const Job& job);

}  // namespace poet::server
