#pragma once

#include <string>
#include <vector>

#include "apps/shared/training/session.h"

namespace poet::cli {

/// What is to be known of a run that its figures do not tell: what it did not do, and what its bits depend
/// on.
[[nodiscard]] std::vector<std::string> notes_of(const Session& session, const RunChoice& training);

}  // namespace poet::cli
