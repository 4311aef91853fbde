#pragma once

#include <string>

#include "apps/cli/sweep/sweep_summary.h"

namespace poet::cli {

/// Returns the page of a sweep, with the plans in its store. `csv`: its table. Throws InputError.
[[nodiscard]] std::string sweep_page(const SweepOutcome& outcome, const std::string& csv);

}  // namespace poet::cli
