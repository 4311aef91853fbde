#pragma once

// Incumbents and bounds from MIPs: restricted MIPs search, the full MIP proves.

#include <set>

#include "poet/optimize/milp/columns.h"
#include "poet/optimize/milp/formulation.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {

/// The root relaxation of the full model.
struct Root {
  LpResult lp;
  Decisions support;  // decisions that are positive in the relaxation
};

/// Solves the root relaxation in the time that remains, at most `seconds`, and raises the staged bound.
[[nodiscard]] Root solve_root(Search& search, const Columns& full, double seconds = kInfinity);

/// Searches for the best schedule with decisions from `columns` only: solves the MIP, replays its solution,
/// adds exact RAM rows for stages that overflow, and repeats. Adds these stages to `exact_stages`. At most
/// `work` simplex iterations in all. Returns whether the incumbent improved.
bool search_restricted(Search& search, const Columns& columns, std::set<int>& exact_stages, long work);

/// The full MIP with the incumbent as start, reduced-cost fixing against `root`, and exact rows as needed,
/// until proven or after `work` simplex iterations. Returns true when the model is exhausted: a gap that
/// remains is due to the model's relaxation of the timeline, in device semantics.
bool prove(Search& search, const Columns& full, const Root& root, std::set<int>& exact_stages, long work);

}  // namespace poet
