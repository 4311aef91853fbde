#pragma once

#include <string>
#include <vector>

#include "apps/shared/training/session.h"

namespace poet::cli {

/// Returns notes on a run that its figures do not show: outputs that were not written, and causes of
/// different bits.
[[nodiscard]] std::vector<std::string> notes_of(const Session& session, const RunChoice& training);

}  // namespace poet::cli
