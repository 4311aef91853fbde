#include "apps/cli/solve/solving.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "apps/cli/command.h"
#include "apps/cli/solve/progress.h"
#include "apps/shared/interrupt.h"
#include "poet/base/error.h"
#include "poet/base/stop.h"
#include "poet/pipeline/solve_options.h"

namespace poet::cli {
namespace {

constexpr double kSecondsToTry = 5;

Solved pose_as(const ProblemOptions& options, const Policy& policy, const Adjustment& adjust) {
  const NetworkSpec network = network_spec(options.input);
  const DeviceSpec device = device_spec(options.input);
  Solved solved;
  solved.request.options = solve_options(policy, read_solver_options(options.solver));
  Workload workload = load(network, device, policy);
  if (adjust) adjust(workload.instance, workload.semantics);
  if (solved.request.options.formulation == Formulation::published &&
      workload.semantics != Semantics::published)
    throw InputError("--formulation", "published is for --semantics published only");
  Posed posed = pose(std::move(workload), policy);
  solved.request.instance = std::move(posed.workload.instance);
  solved.request.semantics = posed.workload.semantics;
  solved.request.limits = posed.limits;
  solved.workload = std::move(posed.workload);
  solved.figures = posed.figures;
  return solved;
}

/// Whether there is a plan for what was posed in another way; briefly.
bool has_plan(Solved posed, const Stop& stop) {
  posed.request.options.time_limit_seconds = stop.remaining();
  posed.request.options.interrupted = stop;
  posed.request.options.explain = false;
  posed.request.options.gap = std::numeric_limits<double>::max();  // any plan will do
  posed.result = compile(posed.request);
  return has_answer(posed);
}

/// Where no plan can do with the RAM: what else could be changed, tried out.
void look_further(const ProblemOptions& options, const Solving& how, const InterruptGuard& guard,
                  Solved& solved) {
  const bool hopeless = solved.request.limits.ram_budget < solved.figures.floor.bytes();
  if (!hopeless || has_answer(solved) || solved.request.options.solver == Solver::file) return;
  const Stop stop(std::min(kSecondsToTry, solved.request.options.time_limit_seconds),
                  [&guard] { return guard.interrupted(); });
  for (const Alternative& other : how.alternatives)
    if (has_plan(pose_as(options, policy_of(options), other.adjust), stop.at_least(0.1)))
      solved.other_ways.push_back(other.way);
  if (!solved.workload.device || solved.figures.floor.persistent <= Bytes(0)) return;
  Policy policy = policy_of(options);
  policy.persistent = PersistentPolicy::excluded;
  Solved elsewhere = pose_as(options, policy, how.adjust);
  solved.floor_elsewhere = elsewhere.figures.floor.bytes();
  if (has_plan(std::move(elsewhere), stop.at_least(0.1)))
    solved.other_ways.emplace_back(
        "--persistent excluded, if parameters and optimiser state need not be in this RAM");
}

}  // namespace

bool has_answer(const Solved& solved) {
  const Status status = solved.result.certificate.status;
  return status == Status::optimal || status == Status::feasible;
}

bool ran_out_of_time(const Solved& solved) {
  return solved.result.outcome.solve_seconds >= solved.request.options.time_limit_seconds;
}

int exit_code(const Solved& solved) { return has_answer(solved) ? kAnswer : kNoAnswer; }

Solved pose_problem(const ProblemOptions& options, const Adjustment& adjust) {
  return pose_as(options, policy_of(options), adjust);
}

Solved solve_problem(const ProblemOptions& options, const Solving& how) {
  Solved solved = pose_problem(options, how.adjust);
  solved.request.options.synchronous = how.synchronous;
  const InterruptGuard guard(how.on_interrupt);
  std::optional<ProgressDisplay> display;
  if (!options.solver.quiet) {
    display.emplace(stderr, solved.figures.keep_all.energy);
    solved.request.options.on_progress = [&display](const Progress& progress) { display->show(progress); };
  }
  solved.request.options.interrupted = [&guard] { return guard.interrupted(); };
  solved.result = compile(solved.request);
  look_further(options, how, guard, solved);
  // Display and guard end here.
  solved.request.options.on_progress = nullptr;
  solved.request.options.interrupted = nullptr;
  solved.interrupted = guard.interrupted();
  return solved;
}

}  // namespace poet::cli
