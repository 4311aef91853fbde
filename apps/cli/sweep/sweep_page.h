#pragma once

#include <string>

#include "apps/cli/sweep/sweep_summary.h"

namespace poet::cli {

/// The page of a sweep, with the plans that its store kept. `csv`: its table. Throws InputError.
[[nodiscard]] std::string sweep_page(const SweepOutcome& outcome, const std::string& csv);

}  // namespace poet::cli
