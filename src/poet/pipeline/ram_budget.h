#pragma once

// RAM budgets as people type them. `option` is for messages; all throw InputError.

#include <string>
#include <vector>

#include "poet/pipeline/spec.h"

namespace poet {

/// "300KiB" (base/parse_amounts.h), "50%" of the keep-all peak, or "least".
[[nodiscard]] RamBudget parse_ram_budget(const std::string& option, const std::string& text);

/// One or several, separated by commas.
[[nodiscard]] std::vector<RamBudget> parse_ram_budgets(const std::string& option, const std::string& text);

/// How a budget of so many bytes came about, in one sentence with fields of the library's; of bytes that were
/// asked for, nothing. `keep_all`: what keeping everything takes before the graph is split.
[[nodiscard]] std::string note_of(const RamBudget& asked, Bytes keep_all, Bytes bytes);

}  // namespace poet
