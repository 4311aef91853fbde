#pragma once

// Which persistent values live on storage: sets worth trying.

#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

/// Sets of persistent values to page, in the order in which they are worth a try: none, if the budget allows
/// that; then all but some, and all. Those that stay resident are the smallest, whose transfers cost the most
/// energy per byte of RAM, up to a part of the RAM that the budget leaves beside the largest op. Sets for
/// which the budget is below the floor are left out; nothing is left where there is no set above it. Device
/// semantics. O(sets * (ops + edges)).
[[nodiscard]] std::vector<std::vector<ValueId>> paged_sets(const Instance& instance, Bytes ram_budget);

}  // namespace poet
