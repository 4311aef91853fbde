#include "apps/cli/solve/ram_budget.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "apps/shared/option_names.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/text.h"
#include "poet/pipeline/ram_budget.h"

namespace poet::cli {
namespace {

/// KiB where any budget was typed in such; otherwise the units of the first.
void use_units_as_typed(const std::string& typed, const RamBudget& first) {
  if (typed.find_first_of("iI") != std::string::npos)
    set_byte_units(ByteUnits::binary);
  else
    use_units_of(std::holds_alternative<Bytes>(first) ? std::get<Bytes>(first) : Bytes());
}

/// What keeping everything takes before the graph is split.
Workload unsplit(const ProblemOptions& options, const Solving& how) {
  Policy policy = policy_of(options);
  policy.split = {};
  Workload workload = load(network_spec(options.input), device_spec(options.input), policy);
  if (how.adjust) how.adjust(workload.instance, workload.semantics);
  workload.whole_keep_all = figures_of(workload.instance, workload.semantics).keep_all.peak_ram;
  return workload;
}

void settle_least(ProblemOptions& options, const Solving& how) {
  const Policy policy = policy_of(options);
  const InterruptGuard guard(how.on_interrupt);  // also while problems are posed between two solves
  Solving search;
  search.look_further = false;
  search.guard = &guard;
  const double seconds = read_solver_options(options.solver).time_limit_seconds;
  SettledRam least = least_budget(policy, seconds, [&](const SettledRam& tried, double left) {
    options.ram = tried;
    Solved posed = pose_problem(options, how.adjust);
    if (posed.workload.device) use_units_of(posed.workload.device->ram);
    look_quickly(posed.request, left);
    Solved solved = solve_posed(std::move(posed), options, search);
    return std::move(static_cast<Answer&>(solved));
  });
  least.note = with_option_names(least.note);
  options.stopped_by = least.interrupted ? guard.signal() : 0;
  options.ram = std::move(least);
}

}  // namespace

std::vector<RamBudget> ram_budgets(const LimitOptions& limits) {
  if (!limits.ram_budget) return {DeviceRam{}};
  std::vector<RamBudget> budgets;
  for (const std::string& item : pieces_of(*limits.ram_budget + ",", ',')) {
    if (item.empty() && !limits.ram_budget->empty()) throw InputError("--ram-budget", "has an empty item");
    budgets.push_back(parse_ram_budget("--ram-budget", item));
  }
  return budgets;
}

std::vector<SettledRam> settled_budgets(const ProblemOptions& options, const Solving& how) {
  const std::vector<RamBudget> budgets = ram_budgets(options.limits);
  if (std::ranges::count(budgets, RamBudget(LeastRam{})) > 0)
    throw InputError(
        "--ram-budget",
        "least has to stand alone: its plan cuts operators into other parts than those of other budgets");
  if (options.limits.ram_budget) use_units_as_typed(*options.limits.ram_budget, budgets.front());
  std::optional<Workload> whole;
  std::vector<SettledRam> settled;
  for (const RamBudget& budget : budgets) {
    SettledRam& one = settled.emplace_back(SettledRam{budget});
    Bytes keep_all{}, bytes{};
    if (std::holds_alternative<RamOfKeepAll>(budget)) {
      if (!whole) whole = unsplit(options, how);
      if (budgets.size() == 1 && whole->device) use_units_of(whole->device->ram);
      keep_all = whole->whole_keep_all;
      one.ram = bytes = resolve_ram_budget(budget, *whole, nullptr);
    }
    one.note = with_option_names(note_of(budget, keep_all, bytes));
  }
  return settled;
}

ProblemOptions settled(ProblemOptions options, const Solving& how) {
  if (options.ram) return options;
  const std::vector<RamBudget> budgets = ram_budgets(options.limits);
  if (budgets.size() > 1)
    throw InputError("--ram-budget", "takes one amount here; several are for poet solve and poet run");
  if (std::holds_alternative<LeastRam>(budgets.front()))
    settle_least(options, how);
  else
    options.ram = settled_budgets(options, how).front();
  return options;
}

}  // namespace poet::cli
