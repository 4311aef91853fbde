#pragma once

// Results as CSV.

#include <span>
#include <string>

#include "poet/study/pareto.h"
#include "poet/study/sweep_result.h"

namespace poet {

/// Returns `text` as a cell, quoted if necessary.
[[nodiscard]] std::string csv_cell(const std::string& text);

/// Returns RFC 4180 text with "\n" between lines: a heading, then one line per result in order. Columns are
/// the fields of SweepResult, then pareto_energy_ram, pareto_energy_time, pareto_energy_ram_of_method,
/// pareto_energy_time_of_method (0 or 1). Absent figures are empty; numbers read back to the same double.
/// `flags` has one entry per result.
[[nodiscard]] std::string csv_text(std::span<const SweepResult> results, std::span<const ParetoFlags> flags);

}  // namespace poet
