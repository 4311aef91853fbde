#pragma once

// What --ram-budget says besides bytes: nothing, a percentage, "least", several.

#include <string>
#include <vector>

#include "apps/cli/solve/options.h"
#include "apps/cli/solve/solving.h"

namespace poet::cli {

/// Of --ram-budget, where it may name several.
inline constexpr const char* kRamBudgetsHelp =
    "RAM for everything the step needs: 737719, 300KiB, 2MB; 50%, of what keeping everything takes; or "
    "least, "
    "for which a plan is known (default: the device's RAM); 100MB,60MB: a plan for each, in one file";

/// The budgets that --ram-budget names, as typed. None where it is not there.
[[nodiscard]] std::vector<std::string> ram_budgets(const LimitOptions& limits);

/// The options with every RAM budget in bytes: percentages are of the peak with everything kept, before the
/// graph is split; "least" is the smallest for which a quick search within the other limits knows a plan, and
/// where the graph is split as that plan wants it. Without a budget, and with budgets in bytes, as they are.
/// The unit system of all that is printed from here on is that of the budget. Throws InputError. O(1), or a
/// search of a second or two.
[[nodiscard]] ProblemOptions settled(ProblemOptions options, const Solving& how = {});

}  // namespace poet::cli
