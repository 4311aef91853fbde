#pragma once

#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// Returns the lines on network, device and rules.
[[nodiscard]] std::string subject_text(const Solved& solved);

/// The same of several plans for one network: without what is one plan's own.
[[nodiscard]] std::string subject_of_several_text(const Solved& one);

/// Returns the answer of `poet solve` as about 15 aligned lines, or the reason why there is none and
/// suggestions.
[[nodiscard]] std::string summary_text(const Solved& solved);

}  // namespace poet::cli
