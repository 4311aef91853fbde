#include "poet/optimize/solvers/solver.h"

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/base/work_clock.h"
#include "poet/optimize/solvers/cbc.h"
#include "poet/optimize/solvers/command.h"
#include "poet/optimize/solvers/highs.h"
#include "poet/optimize/solvers/presolve.h"

namespace poet {
namespace {

// Returns the result for a model without columns and contradictions.
MipResult nothing_to_decide(const Model& model) {
  MipResult result;
  result.status = MipStatus::optimal;
  result.objective = result.bound = model.cost_constant;
  return result;
}

MipResult solve_by_cbc(const Model& model, MipOptions options) {
  const double start = work_seconds();
  MipResult result = gather(options, [&](Tell& tell) { cbc_solve(model, options, tell); });
  options.time_limit_seconds -= work_seconds() - start;
  if (!result.solver_failed || !options.probing || options.time_limit_seconds <= 0) return result;
  // Results and bounds of the crashed run remain valid.
  options.probing = false;
  if (options.work_limit >= 0) options.work_limit = std::max(0L, options.work_limit - result.work);
  MipResult again = gather(options, [&](Tell& tell) { cbc_solve(model, options, tell); });
  again.nodes += result.nodes;
  again.work += result.work;
  again.bound = std::max(again.bound, result.bound);
  if (again.status != MipStatus::infeasible && !result.x.empty() &&
      (again.x.empty() || result.objective < again.objective)) {
    again.status = MipStatus::feasible;
    again.objective = result.objective;
    again.x = std::move(result.x);
  }
  return again;
}

// Presolves the model, solves the rest, and returns a result for the whole model.
MipResult solve_presolved(const Model& model, MipOptions options) {
  Presolved small = presolve(model);
  MipResult result;
  if (small.infeasible) {
    result.status = MipStatus::infeasible;
    return result;
  }
  std::vector<std::pair<int, double>> start;
  std::vector<int> index(model.lower.size(), -1);
  for (std::size_t c = 0; c < small.columns.size(); ++c) index[at(small.columns[c])] = static_cast<int>(c);
  for (const auto& [column, value] : options.start)
    if (index[at(column)] >= 0) start.emplace_back(index[at(column)], value);
  options.start = std::move(start);
  if (small.model.columns() > 0) {
    // The fixed part stays in the objective, since the gap is relative to the whole objective.
    const double decided = small.model.cost_constant - model.cost_constant;
    small.model.cost_constant = model.cost_constant;
    small.model.add_column(1, 1, decided, false);
    result = solve_by_cbc(small.model, std::move(options));
    if (!result.x.empty()) {
      result.x.pop_back();
      result.x = restored(small, result.x);
    }
  } else if (small.model.cost_constant < options.cutoff) {
    result = nothing_to_decide(small.model);
    result.x = small.x;
  } else {
    result.status = MipStatus::infeasible;
  }
  return result;
}

// Sets the bound of a completed tree to its objective, from which it differs by tolerances only.
MipResult closed(const MipOptions& options, MipResult result) {
  if (result.status == MipStatus::optimal && options.relative_gap == 0 && options.absolute_gap == 0)
    result.bound = result.objective;
  return result;
}

}  // namespace

MipResult solve_mip(const Model& model, const MipOptions& options) {
  if (!has_solver(options.solver)) throw InputError(Field{"solver"}, no_highs());
  if (model.contradiction()) {
    MipResult result;
    result.status = MipStatus::infeasible;
    return result;
  }
  if (model.columns() == 0) return nothing_to_decide(model);
  switch (options.solver) {
    case Solver::cbc:
      return closed(options, solve_presolved(model, options));
    case Solver::highs:
      return closed(options, gather(options, [&](Tell& tell) { highs_solve(model, options, tell); }));
    case Solver::file:
      return solve_by_command(model, options);
  }
  throw InternalError("solve_mip: no such solver");
}

const char* no_highs() {
  return "this build has no HiGHS; configure it where CMake's find_package(highs) finds it, or use cbc";
}

bool has_solver(Solver solver) { return solver != Solver::highs || has_highs(); }

std::string solver_version(Solver solver) {
  switch (solver) {
    case Solver::cbc:
      return cbc_version();
    case Solver::highs:
      return highs_version();
    case Solver::file:
      return "MPS file, bound by " + cbc_version();
  }
  return "?";
}

double violation(const Model& model, const std::vector<double>& x) {
  if (x.size() != model.lower.size()) return kInfinity;
  double most = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    most = std::max({most, model.lower[c] - x[c], x[c] - model.upper[c]});
    if (model.integer[c]) most = std::max(most, std::abs(x[c] - std::round(x[c])));
  }
  for (std::size_t r = 0; r < model.row_lower.size(); ++r) {
    double sum = 0;
    for (std::size_t k = model.row_start[r]; k < model.row_start[r + 1]; ++k)
      sum += model.entry_value[k] * x[static_cast<std::size_t>(model.entry_column[k])];
    most = std::max({most, model.row_lower[r] - sum, sum - model.row_upper[r]});
  }
  return most;
}

}  // namespace poet
