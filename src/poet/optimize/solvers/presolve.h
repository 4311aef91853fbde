#pragma once

// Presolve: removes what a model's bounds already decide. Our own, because CBC's preprocessing proves false
// bounds (docs/solvers.md), while its tree search gets lost in redundant rows.

#include <vector>

#include "poet/optimize/milp/model.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {

/// Fixes integer columns by reduced costs: those that raise the relaxation's objective above `target` one
/// step away from their bound. Returns whether any was fixed; none is without a finite target. The
/// relaxation's columns are the model's first ones. O(columns).
bool fix_by_reduced_costs(Model& model, const LpResult& relaxation, double target);

struct Presolved {
  bool infeasible = false;   // no point satisfies the rows; the other fields are then unspecified
  Model model;               // has the optimum of the given one
  std::vector<int> columns;  // column of `model` -> of the given one
  std::vector<double> x;     // of the given one: fixed columns; 0 for the others
};

/// Repeats until nothing changes: tightens bounds of integer columns by rows, fixes columns that only cost at
/// their cheapest bound, replaces fixed columns by constants, and drops redundant rows. The optimum is
/// unchanged, and each point of the smaller model is one of the given model (restored()), but not vice versa.
/// Deterministic. O(entries x rounds); few rounds in practice, at most 50.
[[nodiscard]] Presolved presolve(const Model& model);

/// Converts a point of the smaller model to one of the given model.
[[nodiscard]] std::vector<double> restored(const Presolved& presolved, const std::vector<double>& x);

}  // namespace poet
