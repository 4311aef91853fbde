#include "poet/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "poet/base/error.h"
#include "poet/optimize/large.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/search/prefetch_in_place.h"
#include "poet/optimize/solve.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/schedule/stages_of.h"
#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/transfers.h"
#include "poet/reserve.h"

namespace poet {
namespace {

/// Progress with the best plan's energy: that of staged schedules has loads that nobody waits for.
OnProgress with_plans_of(const SynchronousSearch& search, OnProgress tell) {
  return changed(std::move(tell), [&search](Progress& progress) {
    progress.incumbent_joules.reset();
    if (search.best() != nullptr) progress.incumbent_joules = search.best()->energy.value();
  });
}

bool holds(const SolveRequest& problem, const PlacedPlan& placed) {
  const auto& [instance, limits, semantics, loads_of] = problem;
  return replay(instance, placed.plan, semantics, limits).valid &&
         replay_layout(instance, placed.plan, placed.layout, semantics, limits).valid;
}

/// Solve: plans with synchronous paging; then staged schedules, the bounds, and more such plans where these
/// lead. The best one as steps whose transfers are scheduled.
Attempt with_all_in_ram(const SolveRequest& problem, SolveOptions options, bool synchronous_too,
                        const Stop& search) {
  const Instance& instance = problem.instance;
  Attempt made;
  std::vector<SynchronousPlan> synchronous;  // of least energy first
  if (synchronous_too) {
    std::vector<SynchronousPlan> known = search_synchronous(problem, options, search);
    if (!known.empty()) {
      const double best = known.front().energy.value();
      options.known_joules = std::min(best, options.known_joules.value_or(best));
      options.explain = false;
    }
    SynchronousSearch more(problem, options, search, std::move(known));
    if (problem.loads_of != nullptr) options.on_progress = with_plans_of(more, options.on_progress);
    made.outcome = solve(problem, options, search, &more);
    synchronous = more.take();
  } else {
    made.outcome = solve(problem, options, search);
  }

  std::optional<Joules> energy;
  if (made.outcome.planned) {
    made.plan = std::move(made.outcome.planned->plan);
    made.outcome.schedule = std::move(made.outcome.planned->schedule);
    made.decided = decisions_of(made.outcome.schedule);
    energy = made.outcome.planned->energy;
  } else if (!made.outcome.schedule.stages.empty()) {
    made.plan = linearise(instance, made.outcome.schedule, problem.semantics);
    energy = problem.loads_of != nullptr
                 ? energy_without_loads(*problem.loads_of, made.plan, search.when_cancelled())
                 : energy_of(instance, made.plan, timeline_of(instance, made.plan));
  }
  if (!synchronous.empty()) made.placed = std::move(synchronous.front().placed);
  if (made.placed && problem.loads_of == nullptr) {
    made.placed = prefetched_in_place(instance, std::move(*made.placed));
    if (!holds(problem, *made.placed)) made.placed.reset();
  }
  if (!synchronous.empty() && !(energy && *energy <= synchronous.front().energy)) {
    use_synchronous(instance, std::move(synchronous.front()), made);
    synchronous.erase(synchronous.begin());
  }
  made.others = std::move(synchronous);
  return made;
}

/// The same where persistent values are paged, by the instance with loads. Its schedules say nothing of the
/// original instance; what is left of them is the plan. Loads beside compute take no time in that instance:
/// where the plan then is late, another one is sought that has so much less time, up to `tries` in all.
Attempt with_paged_parameters(const SolveRequest& problem, SolveOptions options, bool synchronous_too,
                              const Stop& whole_search, Seconds earlier = Seconds(0), int tries = 3) {
  const bool may_be_late = problem.limits.deadline && problem.instance.costs.timing.concurrent && tries > 1;
  const Stop search = may_be_late ? whole_search.at_most(whole_search.remaining() / 2) : whole_search;
  const Instance& instance = problem.instance;
  WithLoads loads = with_loads(instance);
  if (!options.rematerialization) redo_only_loads(loads);
  options.rematerialization = true;
  if (problem.limits.max_bytes_written && *problem.limits.max_bytes_written < loads.written_home) {
    Attempt none;
    none.outcome.certificate = certify_none(Status::infeasible, {});
    none.outcome.explanation.reason =
        fmt::format("a step writes {} bytes home to storage, over the limit of {}",
                    loads.written_home.value(), problem.limits.max_bytes_written->value());
    return none;
  }
  const LoadsOf of{instance, loads, problem.limits};
  SolveRequest with{loads.instance, limits_with_loads(loads, problem.limits), problem.semantics, &of};
  if (earlier > Seconds(0)) *with.limits.deadline -= earlier;
  Attempt made = with_all_in_ram(with, options, synchronous_too, search);
  made.synchronous = true;
  const auto without = [&](const Plan& plan) {
    return planned_without_loads(of, plan, search.when_cancelled());
  };
  const auto in_time = [&](const Plan& plan) {
    const auto& deadline = problem.limits.deadline;
    return !deadline || timeline_of(instance, plan).makespan <= latest_end(deadline->value());
  };
  constexpr double kMoment = 0.1;
  const Stop moment = search.at_least(kMoment);
  std::vector<SynchronousPlan> others;
  for (const SynchronousPlan& with_loads : made.others) {
    if (moment() || (made.placed && is_large(instance.graph.ops.size()))) break;
    SynchronousPlan other;
    other.plan = without(with_loads.plan);
    other.energy = energy_of(instance, other.plan, timeline_of(instance, other.plan));
    other.seconds_to_first = with_loads.seconds_to_first;
    other.decided = with_loads.decided;
    if (in_time(other.plan)) others.push_back(std::move(other));
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.energy < b.energy; });
  made.others.clear();
  made.outcome.schedule = {};
  OpId& binding = made.outcome.explanation.binding_op;
  while (binding.valid() && !loads.original[binding].valid()) binding = OpId(binding.index + 1);  // a reader
  if (binding.valid()) binding = loads.original[binding];
  made.outcome.explanation.least_deadline.reset();  // of a schedule whose loads may end later
  if (made.plan.steps.empty()) return made;
  made.plan = without(made.plan);
  if (made.placed) {
    made.placed = prefetched_in_place(instance, placed_without_loads(instance, loads, *made.placed));
    if (!holds(problem, *made.placed)) made.placed.reset();
  }
  if (in_time(made.plan)) {
    made.others = std::move(others);
    return made;
  }
  const Seconds end(timeline_of(instance, made.plan).makespan);
  const Bounds bounds = made.outcome.certificate.bounds;  // of plans with all the time that there is
  made.plan = {};
  earlier += end - *problem.limits.deadline;
  if (may_be_late && !whole_search() && earlier < *problem.limits.deadline) {
    options.on_progress = changed(std::move(options.on_progress), [bounds](Progress& progress) {
      progress.bound_joules = bounds.every_plan.value();
      progress.staged_bound_joules.reset();
    });
    std::optional<PlacedPlan> placed = std::move(made.placed);
    made = with_paged_parameters(problem, options, synchronous_too, whole_search, earlier, tries - 1);
    if (!made.placed) made.placed = std::move(placed);
  }
  if (made.plan.steps.empty() && !others.empty()) {
    use_synchronous(instance, std::move(others.front()), made);
    others.erase(others.begin());
    made.others = std::move(others);
  } else if (made.plan.steps.empty()) {
    made.outcome.certificate.status = Status::unknown;
    made.outcome.explanation = {};
    made.outcome.explanation.reason =
        "loads of parameters make the plans that were found end after the deadline";
  }
  made.outcome.certificate.bounds = bounds;
  return made;
}

}  // namespace

bool searches_synchronous(const CompileRequest& request) {
  const SolveOptions& options = request.options;
  return request.semantics == Semantics::device && options.synchronous && options.paging &&
         request.instance.costs.has_storage && options.solver != Solver::file;
}

bool has_paged(const Instance& instance) {
  const auto& values = instance.graph.values;
  return std::any_of(values.begin(), values.end(), [](const Value& value) { return value.paged; });
}

void verify_plan(const CompileRequest& request, Attempt& made) {
  const Instance& instance = request.instance;
  made.report = replay(instance, made.plan, request.semantics, request.limits);
  ensure(made.report.valid, ("the verifier rejects the plan: " + made.report.violation).c_str());
  made.schedule_report = made.report;
  if (!made.synchronous)
    made.schedule_report = replay(instance, made.outcome.schedule, request.semantics, request.limits);
  ensure(made.schedule_report.valid,
         ("the verifier rejects the schedule: " + made.schedule_report.violation).c_str());
}

void use_synchronous(const Instance& instance, SynchronousPlan synchronous, Attempt& made) {
  made.outcome.explanation = {};
  made.outcome.seconds_to_incumbent = synchronous.seconds_to_first;
  made.plan = std::move(synchronous.plan);
  made.decided = std::move(synchronous.decided);
  made.outcome.schedule = std::move(synchronous.schedule);
  if (made.outcome.schedule.stages.empty() && !has_paged(instance))
    made.outcome.schedule = stages_of(instance, made.plan);
  made.synchronous = true;
}

Attempt solve_and_lower(const CompileRequest& request, SolveOptions options, Bytes reserve,
                        const Stop& search) {
  const Instance instance = with_reserve(request.instance, request.limits.ram_budget, reserve);
  SolveRequest problem{instance, request.limits, request.semantics};
  options.explain = options.explain && reserve == Bytes(0);
  const bool synchronous = searches_synchronous(request);
  Attempt made = has_paged(instance) ? with_paged_parameters(problem, options, synchronous, search)
                                     : with_all_in_ram(problem, options, synchronous, search);
  if (reserve > Bytes(0)) made.placed.reset();  // its layout has the reserve as scratch memory
  if (!made.plan.steps.empty()) verify_plan(request, made);
  return made;
}

}  // namespace poet
