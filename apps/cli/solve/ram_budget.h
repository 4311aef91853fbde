#pragma once

// Parsing of --ram-budget: a default, bytes, a percentage, "least", or several budgets.

#include <vector>

#include "apps/cli/solve/options.h"
#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// Of --ram-budget, where it may name several.
inline constexpr const char* kRamBudgetsHelp =
    "RAM for everything the step needs: 737719, 300KiB, 2MB; 50%: of what keeping everything takes; least: "
    "the smallest budget with a known plan (default: the device's RAM); 100MB,60MB: a plan for each, in one "
    "file";

/// Returns the budgets of --ram-budget in order; without it, the device's RAM. Throws InputError.
[[nodiscard]] std::vector<RamBudget> ram_budgets(const LimitOptions& limits);

/// The same in bytes: percentages are of the peak with everything kept, before the graph is split. The unit
/// system of all that is printed from here on is that of the budget. Throws InputError, also for "least".
[[nodiscard]] std::vector<SettledRam> settled_budgets(const ProblemOptions& options, const Solving& how = {});

/// The options with their one budget settled so, unless it is. "least" is the smallest for which a quick
/// search within the other limits knows a plan, and the graph is split as that plan has it: a search of up to
/// about half the time limit, or all of it with a deadline or a limit on bytes written. Throws InputError,
/// also for several budgets.
[[nodiscard]] ProblemOptions settled(ProblemOptions options, const Solving& how = {});

}  // namespace poet::cli
