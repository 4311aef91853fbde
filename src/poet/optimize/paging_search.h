#pragma once

#include "poet/optimize/search.h"

namespace poet {

/// Offers the search schedules that only page: a space so much smaller than the whole that a little effort
/// there sometimes finds what a lot of it misses here, where storage is quick next to compute. Nothing
/// happens where only one of the means is allowed. `evaluations` of local search, `work` simplex iterations a
/// relaxation; the bound is that of the part and not passed on.
void search_paging_only(Search& search, long evaluations, long work);

}  // namespace poet
