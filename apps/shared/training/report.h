#pragma once

// A training run as people and programs read it: what was planned next to what was measured.

#include <string>

#include "apps/shared/training/session.h"

namespace poet::cli {

/// Some ten aligned lines: what was trained, how it went, RAM, time.
[[nodiscard]] std::string session_text(const Session& session);

/// Planned and measured side by side: memory, time, transfers, energy, and time by kind of operator.
[[nodiscard]] std::string side_by_side_text(const Session& session);

}  // namespace poet::cli
