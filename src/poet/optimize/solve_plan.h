#pragma once

#include "poet/optimize/outcome.h"
#include "poet/plan/plan.h"

namespace poet {

struct PlannedOutcome {
  Outcome outcome;
  Plan plan;  // canonical; empty without an answer
  /// The plan's transfers happen between two ops. outcome.schedule says what it keeps, recomputes and pages,
  /// but obeys RAM under the paper's rules only: the plan has no stage form.
  bool synchronous = false;
};

/// The plan of least energy found: solve() and its schedule linearised, transfers planned; on a device the
/// better of that and search_synchronous(). The outcome's certificate is the staged search's: its bounds hold
/// for the plan, its energy is that of the best staged schedule. Within half a second of the time limit, as
/// solve().
[[nodiscard]] PlannedOutcome solve_plan(const SolveRequest& request, const SolveOptions& options);

}  // namespace poet
