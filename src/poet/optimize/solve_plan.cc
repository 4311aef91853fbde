#include "poet/optimize/solve_plan.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "poet/optimize/search/synchronous.h"
#include "poet/optimize/solve.h"
#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/transfers.h"

namespace poet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool looks_synchronous(const SolveRequest& request, const SolveOptions& options) {
  return request.semantics == Semantics::device && options.synchronous && options.paging &&
         request.instance.costs.has_storage && options.solver != Solver::file;
}

/// What is left of the time limit, and a little.
SolveOptions remaining(SolveOptions options, Clock::time_point start) {
  const double limit = options.time_limit_seconds;
  options.time_limit_seconds = std::max(limit - seconds_since(start), 0.05 * limit);
  return options;
}

Plan plan_of(const SolveRequest& request, const Schedule& schedule) {
  const Plan plan = linearise(request.instance, schedule, request.semantics);
  return plan_transfers(request.instance, plan, request.semantics, request.limits);
}

/// Puts the synchronous plan in the place of a costlier one, or of none.
void take(SynchronousPlan&& between, PlannedOutcome& planned) {
  planned.outcome.schedule = std::move(between.schedule);
  planned.outcome.explanation = {};
  planned.plan = std::move(between.plan);
  planned.synchronous = true;
}

}  // namespace

PlannedOutcome solve_plan(const SolveRequest& request, const SolveOptions& options) {
  const Clock::time_point start = Clock::now();
  std::optional<SynchronousPlan> between;
  double seconds_to_between = 0;
  SolveOptions for_stages = options;
  if (looks_synchronous(request, options)) {
    between = search_synchronous(request, options);
    seconds_to_between = seconds_since(start);
    for_stages = remaining(options, start);
    if (between) {
      for_stages.known_joules = between->energy.value();
      for_stages.explain = false;
    }
  }
  PlannedOutcome planned;
  planned.outcome = solve(request, for_stages);
  Outcome& outcome = planned.outcome;
  if (!outcome.schedule.stages.empty()) planned.plan = plan_of(request, outcome.schedule);
  if (between) {
    const bool none = planned.plan.steps.empty();
    const Joules energy =
        none ? Joules()
             : energy_of(request.instance, planned.plan, timeline_of(request.instance, planned.plan));
    if (none || between->energy < energy) {
      take(std::move(*between), planned);
      outcome.seconds_to_incumbent = seconds_to_between;
    }
  }
  outcome.solve_seconds = seconds_since(start);
  return planned;
}

}  // namespace poet
