#include "poet/optimize/milp/formulation.h"

#include <algorithm>

namespace poet {

TightModel build_tight(const Problem& problem, const Columns& columns, const TightOptions& options) {
  const bool for_energy = options.objective == Objective::energy;
  const double scale = for_energy ? problem.objective_scale : 0;
  Model model;
  Variables vars(model, problem, columns, options.tightenings, scale);
  rows::dependencies(model, problem, vars);
  rows::retention(model, problem, vars, options.tightenings);
  rows::paging(model, problem, vars);
  const bool transfers_may_be_early =
      problem.transfers_take_time() && options.timing == rows::TransferTiming::conservative;
  if (options.tightenings.use_it_or_lose_it)
    rows::use_it_or_lose_it(model, problem, vars, transfers_may_be_early);
  rows::Budget budget;
  budget.bytes = problem.budget;
  budget.unit = static_cast<double>(std::max<std::int64_t>(problem.budget, 1));
  budget.amount = Term::fixed(static_cast<double>(problem.budget) / budget.unit);
  if (!for_energy) {
    for (int t = 0; t < problem.ops; ++t)
      budget.unit = std::max(budget.unit, static_cast<double>(working_set(problem, t)));
    budget.amount = Term::of(model.add_column(0, kInfinity, 1, false));
  }
  rows::ram(model, problem, vars, budget, options.tightenings.rounding);
  rows::limits(model, problem, vars, options.timing, scale);
  for (int stage : options.exact_stages) rows::exact_ram(model, problem, vars, budget, stage);
  return {std::move(model), std::move(vars), scale, budget.unit};
}

}  // namespace poet
