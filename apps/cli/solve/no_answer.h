#pragma once

#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// Lines: why there is no plan, the least RAM and time that are known, and suggestions.
[[nodiscard]] std::string no_answer_text(const Solved& solved);

}  // namespace poet::cli
