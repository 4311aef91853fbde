#pragma once

#include <string>

#include "poet/pipeline/spec.h"

namespace poet {

/// A RAM budget as people type it: "300KiB" (base/parse_amounts.h), or "50%" of the keep-all peak. `option`
/// is for the message. Throws InputError.
[[nodiscard]] RamBudget parse_ram_budget(const std::string& option, const std::string& text);

}  // namespace poet
