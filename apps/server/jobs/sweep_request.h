#pragma once

// Sweeps as jobs: a sweep specification (docs/formats_sweep.md) with uploads as files and profiles as
// platforms.

#include <nlohmann/json_fwd.hpp>

#include "apps/server/jobs/command_line.h"
#include "apps/server/jobs/request.h"
#include "poet/cost/json_reader.h"

namespace poet::server {

/// Checks the specification and returns it as JSON. Throws InputError, also for too many points.
[[nodiscard]] nlohmann::ordered_json read_sweep(const JsonField& root, const Bounds& bounds,
                                                const KnownNames& names);

[[nodiscard]] Commandline sweep_command_line(
    const nlohmann::ordered_json& request, const std::filesystem::path& folder,
    const std::function<std::filesystem::path(const std::string& id)>& upload);

}  // namespace poet::server
