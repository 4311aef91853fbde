#pragma once

// Which sets of persistent values to page are worth a search.

#include <cstddef>
#include <vector>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

/// The best first, by what a quick search makes of them (optimize/quick_energy.h).
struct RankedSets {
  std::vector<std::vector<ValueId>> sets;
  std::size_t promising = 0;  // of these, the first: the others need much more energy, by that search
};

/// Sets whose updates write more home than the limits allow are left out, unless all do. A set that quick
/// searches have not got to by `stop` stands last. Two quick searches a set, by streams and then by greedy.
[[nodiscard]] RankedSets ranked_sets(const Instance& instance, const Limits& limits,
                                     std::vector<std::vector<ValueId>> sets, const Stop& stop);

}  // namespace poet
