#include "apps/cli/solve/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "apps/cli/solve/ram_budget.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/optimize/certificate.h"

namespace poet::cli {
namespace {

constexpr double kSecondsAfterInterrupt = 1;  // for each budget that was not tried before Ctrl-C

double baseline(const Solved& solved) { return solved.result.keep_all.energy.value(); }

void certify_again(Solved& solved) {
  CompileResult& result = solved.result;
  result.certificate = certify(result.report.energy, Joules(baseline(solved)), result.certificate.bounds,
                               solved.request.options.gap);
  result.outcome.certificate = result.certificate;
}

/// The plan of a smaller budget, which a larger one allows as well. Bounds stay those of the larger one.
void take_plan(const Solved& smaller, Solved& larger) {
  const Bounds bounds = larger.result.certificate.bounds;
  const bool had_bounds = has_plan(larger);
  const double seconds = larger.result.outcome.solve_seconds;
  larger.result = smaller.result;
  larger.result.outcome.solve_seconds = seconds;
  larger.request.instance = smaller.request.instance;
  larger.suggestions = {};
  // What a search without a plan has proven may not be a bound of anything.
  larger.result.certificate.bounds = had_bounds ? bounds : Bounds{};
  certify_again(larger);
}

/// No plan of the larger budget needs less: then no plan of the smaller one does.
void take_bound(const Solved& larger, Solved& smaller) {
  Bounds& bounds = smaller.result.certificate.bounds;
  const Joules bound = larger.result.certificate.bounds.every_plan;
  if (bound <= bounds.every_plan) return;
  bounds.every_plan = bound;
  if (bounds.staged && *bounds.staged <= bound) bounds.staged.reset();
  certify_again(smaller);
}

/// From the largest to the smallest.
std::vector<SettledRam> decreasing(std::vector<SettledRam> budgets) {
  const auto bytes = [](const SettledRam& settled) { return std::get<Bytes>(settled.ram); };
  std::ranges::stable_sort(budgets, std::greater<>(), bytes);
  const auto same = std::ranges::adjacent_find(budgets, std::equal_to<>(), bytes);
  if (same != budgets.end())
    throw InputError("--ram-budget", fmt::format("names {} twice", format_bytes(bytes(*same))));
  if (budgets.size() > kMostPlans)
    throw InputError("--ram-budget", fmt::format("names {} budgets; at most {} plans go into one file",
                                                 budgets.size(), kMostPlans));
  return budgets;
}

}  // namespace

std::vector<Solved> solve_budgets(const ProblemOptions& typed, const Solving& how) {
  std::vector<Solved> answers;
  if (ram_budgets(typed.limits).size() < 2) {
    answers.push_back(solve_problem(typed, how));
    return answers;
  }
  const std::vector<SettledRam> budgets = decreasing(settled_budgets(typed, how));
  if (typed.solver.solver == "file")
    throw InputError("--solver", "file solves for one RAM budget; --ram-budget names several");
  Solving each = how;
  each.parts_fixed = true;
  ProblemOptions one = typed;
  // From the smallest on: the graph of its answer is all the others'.
  bool interrupted = false;
  for (std::size_t i = budgets.size(); i-- > 0;) {
    one.ram = budgets[i];
    const bool has_graph = !answers.empty() && has_plan(answers.back());
    Solved posed = has_graph ? with_budget(answers.back(), one) : pose_problem(one, how.adjust);
    double& limit = posed.request.options.time_limit_seconds;
    if (interrupted) limit = std::min(limit, kSecondsAfterInterrupt);
    answers.insert(answers.begin(), solve_posed(std::move(posed), one, each));
    interrupted = interrupted || answers.front().interrupted;
  }
  carry_between_budgets(answers);
  return answers;
}

void carry_between_budgets(std::vector<Solved>& answers) {
  // Bounds first: a plan that is taken over leaves its own behind.
  for (std::size_t i = 1; i < answers.size(); ++i)
    if (has_plan(answers[i]) && has_plan(answers[i - 1])) take_bound(answers[i - 1], answers[i]);
  for (std::size_t i = answers.size(); i-- > 1;) {
    const Solved& smaller = answers[i];
    Solved& larger = answers[i - 1];
    if (!has_plan(smaller)) continue;
    if (!has_plan(larger) || smaller.result.report.energy < larger.result.report.energy)
      take_plan(smaller, larger);
  }
}

bool all_answered(const std::vector<Solved>& answers) {
  return std::all_of(answers.begin(), answers.end(), [](const Solved& solved) { return has_plan(solved); });
}

PlanFamily family_of_answers(const std::vector<Solved>& answers) {
  std::vector<PlanFile> plans;
  for (const Solved& solved : answers) plans.push_back(plan_file_of(solved));
  return family_of(std::move(plans), "the plans");
}

}  // namespace poet::cli
