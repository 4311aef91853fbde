#pragma once

// Ranks sets of persistent values to page by quick searches.

#include <cstddef>
#include <vector>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/optimize/problem/residence.h"
#include "poet/plan/limits.h"

namespace poet {

struct RankedSets {
  std::vector<PagedSet> sets;  // the one to try first in front
  std::size_t promising = 0;   // the length of the prefix whose energy is at most a tenth above the least
};

/// Ranks sets by the energy that quick searches (optimize/quick_energy.h) find: one by streaming and one by
/// greedy per set. Adds sets that leave a little more or less RAM free than the best one, up to ten. Of sets
/// within 2% of the least energy, those that leave more RAM beside the largest op come first, as greedy plans
/// do not count what fragmentation takes. Sets not searched before `stop` come last. Drops sets whose updates
/// write more home than the limits allow, unless all do.
[[nodiscard]] RankedSets ranked_sets(const Instance& instance, const Limits& limits,
                                     std::vector<PagedSet> sets, const Stop& stop);

}  // namespace poet
