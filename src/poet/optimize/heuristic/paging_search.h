#pragma once

#include "poet/optimize/search/search.h"

namespace poet {

// Schedules that page and do not recompute. Their search space is so much smaller that a little effort
// sometimes finds what the whole search misses, if storage is fast relative to compute. These functions do
// nothing unless both mechanisms are allowed.

/// Offers the greedy schedule of this kind, if there is time. Takes milliseconds.
void offer_paging_only(Search& search);

/// Offers the schedules of this kind that local search (`evaluations`) and window relaxations (`work` simplex
/// iterations each) find. Their bounds hold without recomputation only, and are dropped.
void search_paging_only(Search& search, long evaluations, long work);

}  // namespace poet
