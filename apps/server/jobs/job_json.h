#pragma once

// Jobs as JSON for clients.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/server/jobs/job.h"

namespace poet::server {

/// {"id", "kind", "state", "version", "client", "ahead", "attempts", "submitted", "started", "finished",
/// "progress", "error",
///  "has_plan"} and, if requested, "request". Times are seconds since 1970; unknown ones are null.
[[nodiscard]] nlohmann::ordered_json job_json(const Job& job, bool with_request);

/// Returns the job as a server-sent event named "job".
[[nodiscard]] std::string event_text(const Job& job);

}  // namespace poet::server
