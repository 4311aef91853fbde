#pragma once

#include <set>

#include "poet/optimize/milp/branch.h"
#include "poet/optimize/search/search.h"

namespace poet {

/// Runs one round of large-neighbourhood search around the incumbent. Each neighbourhood frees some decisions
/// (those in a window of stages, or those of a sample of the values, up to `width` stages from uses);
/// elsewhere only the incumbent's decisions may be taken or dropped. At most `work` simplex iterations each.
/// `seed` selects the samples. Returns whether the incumbent improved.
bool search_neighbourhoods(Search& search, int width, unsigned seed, std::set<int>& exact_stages, long work);

}  // namespace poet
