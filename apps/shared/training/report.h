#pragma once

// Reports of training runs, with planned and measured figures.

#include <string>

#include "apps/shared/training/session.h"

namespace poet::cli {

/// Returns about ten aligned lines: network, loss, RAM, time.
[[nodiscard]] std::string session_text(const Session& session);

/// Returns planned and measured figures side by side: memory, time, transfers, energy, and time by kind of
/// operator.
[[nodiscard]] std::string side_by_side_text(const Session& session);

}  // namespace poet::cli
