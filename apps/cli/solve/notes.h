#pragma once

#include <string>
#include <vector>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// What import, options and the device itself say; empty when nothing.
[[nodiscard]] std::vector<std::string> notes(const Solved& solved);

}  // namespace poet::cli
