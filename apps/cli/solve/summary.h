#pragma once

#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// What was scheduled: network, device, rules. Lines of the same two columns as summary().
[[nodiscard]] std::string subject_text(const Solved& solved);

/// The same of several plans for one network: without what is one plan's own.
[[nodiscard]] std::string subject_of_several_text(const Solved& one);

/// The whole answer of `poet solve` for people: some 15 aligned lines, or why there is none and the way out.
[[nodiscard]] std::string summary_text(const Solved& solved);

}  // namespace poet::cli
