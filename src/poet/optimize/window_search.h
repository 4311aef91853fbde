#pragma once

// Window relaxations with more and more breakpoints: each raises the bound and says where to look for
// schedules, and its answer says where the next breakpoint belongs.

#include <set>

#include "poet/optimize/search.h"

namespace poet {

/// Goes on until the search is done, breakpoints no longer raise the bound, or a relaxation takes more effort
/// than it is worth. `exact_stages` as in branch.h.
void search_windows(Search& search, std::set<int>& exact_stages);

}  // namespace poet
