#pragma once

#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// What was scheduled: network, device, rules. Lines of the same two columns as summary().
[[nodiscard]] std::string subject_text(const Solved& solved);

/// The whole answer of `poet solve` for people: some 15 aligned lines, or why there is none and the way out.
[[nodiscard]] std::string summary_text(const Solved& solved);

}  // namespace poet::cli
