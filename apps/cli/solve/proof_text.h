#pragma once

#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// The status of an answer and what is proven of it.
[[nodiscard]] std::string proof_text(const Solved& solved);

/// How much less energy a better plan could need, of the overhead and of the energy: "1.2% (0.03%)".
[[nodiscard]] std::string gap_cell(const Solved& solved);

/// Who searched, and for how long.
[[nodiscard]] std::string solver_text(const Solved& solved);

}  // namespace poet::cli
