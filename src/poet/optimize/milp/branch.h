#pragma once

// Models turned into incumbents and bounds: restricted MIPs that search, the full MIP that proves.

#include <set>

#include "poet/optimize/milp/columns.h"
#include "poet/optimize/milp/formulation.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {

/// What the root relaxation of the full model says.
struct Root {
  LpResult lp;
  Decisions support;  // decisions that are positive in the relaxation
};

[[nodiscard]] Root solve_root(Search& search, const Columns& full);

/// Best schedule with decisions from `columns` only: MIP, exact replay, exact RAM rows where the replay
/// overflowed, again. New stages that needed exact rows are added to `exact_stages`. At most `work` simplex
/// iterations in all. Returns true when the incumbent improved.
bool search_restricted(Search& search, const Columns& columns, std::set<int>& exact_stages, long work);

/// The full MIP with the incumbent as start, reduced-cost fixing against `root`, and exact rows as needed,
/// until proven or at most `work` simplex iterations later. True when the model has nothing more to say:
/// what is then still open is open because the model is a relaxation (of the timeline, in device semantics).
bool prove(Search& search, const Columns& full, const Root& root, std::set<int>& exact_stages, long work);

}  // namespace poet
