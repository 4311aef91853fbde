#pragma once

// RAM budgets as users write them. `option` names the place in messages; all throw InputError.

#include <string>
#include <vector>

#include "poet/pipeline/spec.h"

namespace poet {

/// Parses "300KiB" (base/parse_amounts.h), "50%" of the keep-all peak, or "least".
[[nodiscard]] RamBudget parse_ram_budget(const std::string& option, const std::string& text);

/// Parses one or several, separated by commas.
[[nodiscard]] std::vector<RamBudget> parse_ram_budgets(const std::string& option, const std::string& text);

/// Returns one sentence on how the budget of `bytes` was determined, which names library fields; empty if
/// bytes were requested. `keep_all`: the keep-all peak before the graph is split.
[[nodiscard]] std::string note_of(const RamBudget& asked, Bytes keep_all, Bytes bytes);

}  // namespace poet
