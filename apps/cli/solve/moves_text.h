#pragma once

#include <string>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// Lines: what the plan recomputes, pages and transfers; none where it does nothing of the kind.
[[nodiscard]] std::string moves_text(const Solved& solved);

}  // namespace poet::cli
