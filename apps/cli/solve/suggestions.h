#pragma once

#include <string>
#include <vector>

#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// When there is no schedule: what the user could change, the smallest change first, each one with the option
/// to type ("--ram-budget 1310720 (4.9% more)") and with a plan that was found so, but for "perhaps"; in
/// general terms where none was. Never empty.
[[nodiscard]] std::vector<std::string> suggestion_texts(const Solved& solved);

/// Why there is no schedule, in one sentence. When parameters and optimiser state alone exceed the budget it
/// says so and names `--persistent excluded`.
[[nodiscard]] std::string why_not(const Solved& solved);

}  // namespace poet::cli
