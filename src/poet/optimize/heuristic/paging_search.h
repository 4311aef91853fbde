#pragma once

#include "poet/optimize/search/search.h"

namespace poet {

// Schedules that only page: a space so much smaller than the whole that a little effort there sometimes finds
// what a lot of it misses here, where storage is quick next to compute. Nothing happens where only one of the
// mechanisms is allowed.

/// Offers the greedy one, as far as there is time. Milliseconds.
void offer_paging_only(Search& search);

/// Offers what local search and window relaxations find: `evaluations`, and `work` simplex iterations a
/// relaxation. The bound is that of the part and not passed on.
void search_paging_only(Search& search, long evaluations, long work);

}  // namespace poet
