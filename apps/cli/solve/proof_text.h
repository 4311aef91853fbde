#pragma once

#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// Returns the status of an answer and its proven bounds.
[[nodiscard]] std::string proof_text(const Solved& solved);

/// Returns the possible saving of a better plan, relative to overhead and energy: "1.2% (0.03%)".
[[nodiscard]] std::string gap_cell(const Solved& solved);

/// Returns the solver and its time.
[[nodiscard]] std::string solver_text(const Solved& solved);

}  // namespace poet::cli
