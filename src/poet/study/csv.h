#pragma once

// Results as a table for spreadsheets and plotting programs.

#include <span>
#include <string>

#include "poet/study/pareto.h"
#include "poet/study/sweep_result.h"

namespace poet {

/// `text` as a cell, quoted where it has to be.
[[nodiscard]] std::string csv_cell(const std::string& text);

/// RFC 4180 with "\n" between lines: a heading, then one line per result in their order. Columns are the
/// fields of SweepResult, then pareto_energy_ram, pareto_energy_time, pareto_energy_ram_of_method,
/// pareto_energy_time_of_method (0 or 1). Absent figures are empty; numbers read back to the same double.
/// `flags` has one entry per result.
[[nodiscard]] std::string csv_text(std::span<const SweepResult> results, std::span<const ParetoFlags> flags);

}  // namespace poet
