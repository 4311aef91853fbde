#pragma once

// A training run as people and programs read it: what was planned next to what was measured.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/cli/training/session.h"

namespace poet::cli {

/// Some ten aligned lines: what was trained, how it went, RAM, time.
[[nodiscard]] std::string session_text(const Session& session);

/// Planned and measured side by side: memory, time, transfers, energy, and time by kind of operator.
[[nodiscard]] std::string side_by_side_text(const Session& session);

/// The planned figures under the names of `poet solve --json`, "losses" and "measured".
[[nodiscard]] nlohmann::ordered_json session_json(const Session& session);

/// The losses of all steps into a .csv file, or as a curve.
void write_losses(const Session& session, const std::filesystem::path& file);

}  // namespace poet::cli
