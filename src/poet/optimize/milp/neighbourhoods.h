#pragma once

#include <set>

#include "poet/optimize/milp/branch.h"
#include "poet/optimize/search/search.h"

namespace poet {

/// Large-neighbourhood search around the incumbent: again and again a part of the decisions is free (those of
/// a window of stages, or those about a sample of the values, near uses up to `width` stages away), elsewhere
/// only the incumbent's own decisions may be taken or dropped, at most `work` simplex iterations for each
/// part. One round over all parts; another `seed` takes other samples. Returns true when the incumbent
/// improved.
bool search_neighbourhoods(Search& search, int width, unsigned seed, std::set<int>& exact_stages, long work);

}  // namespace poet
