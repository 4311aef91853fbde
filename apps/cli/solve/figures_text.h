#pragma once

#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// Lines: what the plan takes of energy, time and RAM, next to the step without limits; its addresses; why
/// anything had to be done.
[[nodiscard]] std::string figures_text(const Solved& solved);

}  // namespace poet::cli
