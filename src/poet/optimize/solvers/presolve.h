#pragma once

// What a model becomes when all that its bounds already decide is taken out. Our own because CBC's
// preprocessing proves what is not true (docs/solvers.md), while its tree is lost in rows that say nothing.

#include <vector>

#include "poet/optimize/milp/model.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {

/// An integer column that one step away from its bound lifts the relaxation's objective over `target` is
/// fixed there: no solution below the target has it elsewhere. Whether there is one. The relaxation's columns
/// are the model's first. Nothing is fixed without a finite target. O(columns).
bool fix_by_reduced_costs(Model& model, const LpResult& relaxation, double target);

struct Presolved {
  bool infeasible = false;   // no point keeps the rows; the rest then means nothing
  Model model;               // costs as the given one
  std::vector<int> columns;  // of `model` -> of the given one
  std::vector<double> x;     // of the given one: what has been decided; elsewhere 0
};

/// Until nothing changes: integer columns get the bounds that rows imply, columns that only cost go to the
/// bound that costs least, columns with one value become constants and rows that no point can break are left
/// out. The least cost stays what it is, and each point of the smaller model is one of the given model
/// (restored()); not every one of these stays. Deterministic. O(entries x rounds), few in practice and 50 at
/// most.
[[nodiscard]] Presolved presolve(const Model& model);

/// A point of the smaller model as one of the given one.
[[nodiscard]] std::vector<double> restored(const Presolved& presolved, const std::vector<double>& x);

}  // namespace poet
