#pragma once

// The window relaxation (relaxation/windows.h) of problems that only recompute, as clauses and sums.

#include <memory>
#include <vector>

#include "poet/optimize/clauses/clause_solver.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// [window][value or op]; none where the relaxation has no such column.
using LiteralGrid = std::vector<std::vector<Literal>>;

struct WindowClauses {
  // A solver stays where it is.
  std::unique_ptr<ClauseSolver> solver = std::make_unique<ClauseSolver>();
  LiteralGrid kept;            // of values
  LiteralGrid recompute;       // of ops
  std::vector<Literal> twice;  // per op: it is recomputed twice in some window; none: if so, it costs nothing
  /// What recomputations cost at least: an op's as many times as literals are true, of which there are few
  /// per op.
  std::vector<WeightedLiteral> cost;
  double joules_per_cost = 0;  // costs are rounded down
};

/// Each op pays for recomputations in at most `paid` windows, which is another relaxation. O(windows *
/// (values + edges)) clauses, and rows of RAM during recomputations of O(windows * ops * values) terms.
[[nodiscard]] WindowClauses build_window_clauses(const Problem& problem, const StageWindows& windows,
                                                 int paid);

}  // namespace poet
