#include "poet/solve_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "poet/load_problem.h"
#include "poet/optimize/large.h"
#include "poet/optimize/search/prefetch_in_place.h"
#include "poet/optimize/solve.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/schedule/stages_of.h"
#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/transfers.h"
#include "poet/reserve.h"
#include "poet/verify/accepted.h"

namespace poet {
namespace {

/// Reports the best plan's energy as the incumbent's: in the instance with loads, staged schedules do not
/// wait for loads, so their energy is too low.
OnProgress with_plans_of(const SynchronousSearch& search, OnProgress on_progress) {
  return map_progress(std::move(on_progress), [&search](Progress& progress) {
    progress.incumbent_joules.reset();
    if (search.best() != nullptr) progress.incumbent_joules = search.best()->energy.value();
  });
}

bool holds(const SolveRequest& problem, const PlacedPlan& placed) {
  const auto& [instance, limits, semantics, loads_of] = problem;
  return replay(instance, placed.plan, semantics, limits).valid &&
         replay_layout(instance, placed.plan, placed.layout, semantics, limits).valid;
}

/// Searches for plans with synchronous paging first, then for staged schedules and bounds, and again for
/// synchronous plans near what the relaxations decide. Returns the best plan as steps with scheduled
/// transfers, not yet verified.
Attempt search_plans(const SolveRequest& problem, SolveOptions options, bool synchronous_too,
                     const Stop& search) {
  const Instance& instance = problem.instance;
  Attempt made;
  std::vector<SynchronousPlan> synchronous;  // by increasing energy
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

Attempt writes_too_much(Bytes written_home, Bytes limit) {
  Attempt none;
  none.outcome.certificate = certify_none(Status::infeasible, {});
  none.outcome.explanation.reason = fmt::format(
      "a step writes {} bytes home to storage, over the limit of {}", written_home.value(), limit.value());
  return none;
}

bool meets_deadline(const SolveRequest& problem, const Plan& plan) {
  const auto& deadline = problem.limits.deadline;
  return !deadline || timeline_of(problem.instance, plan).makespan <= latest_end(deadline->value());
}

/// Converts those other plans of the instance with loads that then meet the deadline, for a moment at least.
std::vector<SynchronousPlan> others_without_loads(const SolveRequest& problem, const LoadProblem& with,
                                                  const Attempt& made, const Stop& search) {
  constexpr double kMoment = 0.1;
  const Instance& instance = problem.instance;
  const Stop moment = search.at_least(kMoment);
  std::vector<SynchronousPlan> others;
  for (const SynchronousPlan& with_loads : made.others) {
    if (moment() || (made.placed && is_large(instance.graph.ops.size()))) break;
    SynchronousPlan other;
    other.plan = planned_without_loads(with.of(), with_loads.plan, search.when_cancelled());
    other.energy = energy_of(instance, other.plan, timeline_of(instance, other.plan));
    other.seconds_to_first = with_loads.seconds_to_first;
    other.decided = with_loads.decided;
    if (meets_deadline(problem, other.plan)) others.push_back(std::move(other));
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.energy < b.energy; });
  return others;
}

/// Solves the problem with loads for a deadline that is `earlier`, and converts its plans to the original
/// instance. Where transfers overlap compute, loads take no time in that problem, so the plan may miss the
/// deadline. Staged schedules are dropped, as they do not describe the original instance.
Attempt search_with_loads(const SolveRequest& problem, const LoadProblem& with, const SolveOptions& options,
                          bool synchronous_too, Seconds earlier, const Stop& search) {
  SolveRequest request = with.request(problem.semantics);
  if (earlier > Seconds(0)) *request.limits.deadline -= earlier;
  Attempt made = search_plans(request, options, synchronous_too, search);
  made.synchronous = true;
  made.others = others_without_loads(problem, with, made, search);
  made.outcome.schedule = {};
  const WithLoads& loads = with.loads();
  OpId& binding = made.outcome.explanation.binding_op;
  while (binding.valid() && !loads.original[binding].valid()) binding = OpId(binding.index + 1);  // a reader
  if (binding.valid()) binding = loads.original[binding];
  made.outcome.explanation.least_deadline.reset();  // of a schedule whose loads may end later
  if (!made.has_plan()) return made;
  made.plan = planned_without_loads(with.of(), made.plan, search.when_cancelled());
  if (made.placed) {
    made.placed =
        prefetched_in_place(problem.instance, placed_without_loads(problem.instance, loads, *made.placed));
    if (!holds(problem, *made.placed)) made.placed.reset();
  }
  return made;
}

/// Searches for plans that page persistent values. While the plan found misses the deadline, searches again
/// with a deadline earlier by the delay, a few times; then falls back to another plan that meets it. Bounds
/// are the first search's, which has the whole time of a step.
Attempt search_paged_plans(const SolveRequest& problem, SolveOptions options, bool synchronous_too,
                           const Stop& search) {
  constexpr int kMostSearchesWithinDeadline = 3;
  const std::optional<Seconds> deadline = problem.limits.deadline;
  const std::optional<Bytes> most_written = problem.limits.max_bytes_written;
  const LoadProblem with(problem.instance, problem.limits, options.rematerialization);
  options.rematerialization = true;
  if (most_written && *most_written < with.loads().written_home)
    return writes_too_much(with.loads().written_home, *most_written);

  const int searches = deadline && problem.instance.costs.timing.concurrent ? kMostSearchesWithinDeadline : 1;
  Attempt made;
  Bounds bounds;
  Seconds earlier{};
  std::optional<PlacedPlan> placed;     // the last one that was found
  std::vector<SynchronousPlan> others;  // of the last search with any
  bool timed_out = false;
  for (int i = 1; i <= searches; ++i) {
    const Stop part = i < searches ? search.at_most(search.remaining() / 2) : search;
    made = search_with_loads(problem, with, options, synchronous_too, earlier, part);
    made.outcome.timed_out = timed_out = timed_out || made.outcome.timed_out;
    if (i == 1) bounds = made.outcome.certificate.bounds;
    if (!made.placed) made.placed = std::move(placed);
    made.outcome.certificate.bounds = bounds;
    if (made.has_plan() ? meets_deadline(problem, made.plan) : i == 1) return made;
    if (!made.others.empty()) others = std::exchange(made.others, {});
    if (!made.has_plan()) break;
    earlier += Seconds(timeline_of(problem.instance, made.plan).makespan) - *deadline;
    made.plan = {};
    if (i == searches || search() || earlier >= *deadline) break;
    if (i == 1)
      options.on_progress = map_progress(std::move(options.on_progress), [bounds](Progress& progress) {
        progress.bound_joules = bounds.every_plan.value();
        progress.staged_bound_joules.reset();
      });
    placed = std::move(made.placed);
  }
  if (!others.empty()) {
    use_synchronous(problem.instance, std::move(others.front()), made);
    others.erase(others.begin());
    made.others = std::move(others);
  } else {
    made.outcome.certificate.status = Status::unknown;
    made.outcome.explanation = {};
    made.outcome.explanation.reason =
        "loads of parameters make the plans that were found end after the deadline";
  }
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
  ensure_accepted(made.report, "the plan");
  made.schedule_report = made.report;
  if (!made.synchronous)
    made.schedule_report = replay(instance, made.outcome.schedule, request.semantics, request.limits);
  ensure_accepted(made.schedule_report, "the schedule");
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

Attempt solve_once(const CompileRequest& request, SolveOptions options, Bytes reserve, const Stop& search) {
  const Instance instance = with_reserve(request.instance, request.limits.ram_budget, reserve);
  SolveRequest problem{instance, request.limits, request.semantics};
  options.explain = options.explain && reserve == Bytes(0);
  const bool synchronous = searches_synchronous(request);
  Attempt made = has_paged(instance) ? search_paged_plans(problem, options, synchronous, search)
                                     : search_plans(problem, options, synchronous, search);
  if (reserve > Bytes(0)) made.placed.reset();  // its layout has the reserve as scratch memory
  if (made.has_plan()) verify_plan(request, made);
  return made;
}

}  // namespace poet
