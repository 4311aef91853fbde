#pragma once

#include <set>

#include "poet/optimize/branch.h"
#include "poet/optimize/search.h"

namespace poet {

/// Large-neighbourhood search around the incumbent: again and again a part of the decisions is free (those of
/// a window of stages, or those about a sample of the values, near uses up to `width` stages away), elsewhere
/// only the incumbent's own decisions may be taken or dropped. Ends when a whole round brings nothing, after
/// `time_limit_seconds`, or when the search is done. Deterministic but for the time.
void search_neighbourhoods(Search& search, int width, std::set<int>& exact_stages, double time_limit_seconds);

}  // namespace poet
