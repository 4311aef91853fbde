// The passes from a posed problem (poet/pipeline poses it) to a certified plan, one under the other: solve,
// lower, schedule transfers, canonicalize, verify, place, certify. One deadline and one cancellation go
// through all of them.

#include "poet/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/best_order.h"
#include "poet/on_time.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/search/streamed_plan.h"
#include "poet/optimize/search/synchronous.h"
#include "poet/optimize/solve.h"
#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/layout/addresses.h"
#include "poet/plan/schedule/stages_of.h"
#include "poet/plan/timing/overlap.h"
#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/transfers.h"
#include "poet/reserve.h"
#include "poet/residence.h"
#include "poet/slack.h"

namespace poet {
namespace {

/// The request's time, and a little more in which an answer is made of what was found: without addresses
/// there is none.
class Time {
 public:
  explicit Time(const CompileRequest& request)
      : limit_(stop_of(request.options)), ops_(request.instance.graph.ops.size()) {}

  /// For the search.
  [[nodiscard]] const Stop& limit() const { return limit_; }
  /// For what follows it: the same, or what is left of the little more once the limit is reached.
  [[nodiscard]] Stop finish() {
    constexpr double kAfterLimit = 0.5;
    constexpr int kLarge = 4'000;  // ops: there the other passes take much of half a second
    const double after_cancellation = ops_ <= kLarge ? 0.15 : 0.05;
    if (!limit_()) return limit_.at_least(kAfterLimit);
    if (!finish_) finish_ = Stop(limit_.cancelled() ? after_cancellation : kAfterLimit);
    return *finish_;
  }

 private:
  Stop limit_;
  std::size_t ops_;
  std::optional<Stop> finish_;
};

void check(const CompileRequest& request) {
  verify(request.instance);
  const Limits& limits = request.limits;
  if (limits.ram_budget.value() <= 0) throw InputError(Field{"ram_budget"}, "must be > 0");
  if (limits.deadline && !(limits.deadline->value() > 0 && std::isfinite(limits.deadline->value())))
    throw InputError(Field{"deadline"}, "must be > 0 and finite");
  if (limits.max_bytes_written && limits.max_bytes_written->value() < 0)
    throw InputError(Field{"max_bytes_written"}, "must be >= 0");
  if (!(request.options.gap >= 0)) throw InputError(Field{"gap"}, "must be >= 0");
  if (!(request.options.time_limit_seconds > 0)) throw InputError(Field{"time_limit_seconds"}, "must be > 0");
  if (request.options.threads < 1) throw InputError(Field{"threads"}, "must be >= 1");
}

bool searches_synchronous(const CompileRequest& request) {
  const SolveOptions& options = request.options;
  return request.semantics == Semantics::device && options.synchronous && options.paging &&
         request.instance.costs.has_storage && options.solver != Solver::file;
}

bool has_paged(const Instance& instance) {
  const auto& values = instance.graph.values;
  return std::any_of(values.begin(), values.end(), [](const Value& value) { return value.paged; });
}

/// What the passes make of the problem with a part of its RAM budget in reserve.
struct Attempt {
  Outcome outcome;  // of the search for staged schedules
  Plan plan;        // empty without an answer; so is what follows
  bool synchronous = false;
  Report report;
  Report schedule_report;
  Layout layout;
  Bytes over{};                         // how much more RAM its addresses need than there is
  std::vector<SynchronousPlan> others;  // that need more energy, the least first
  std::optional<PlacedPlan> placed;     // another plan, costlier, whose addresses fit
};

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
  made.outcome.schedule = std::move(synchronous.schedule);
  if (made.outcome.schedule.stages.empty() && !has_paged(instance))
    made.outcome.schedule = stages_of(instance, made.plan);
  made.synchronous = true;
}

/// Solve: plans with synchronous paging; then staged schedules, the bounds, and more such plans where these
/// lead. The best one as steps whose transfers are scheduled.
Attempt solve_and_lower(const SolveRequest& problem, SolveOptions options, bool synchronous_too,
                        const Stop& search) {
  const Instance& instance = problem.instance;
  Attempt made;
  std::vector<SynchronousPlan> synchronous;  // of least energy first
  if (synchronous_too) {
    std::optional<SynchronousPlan> known = search_synchronous(problem, options, search);
    if (known) {
      options.known_joules =
          std::min(known->energy.value(), options.known_joules.value_or(known->energy.value()));
      options.explain = false;
    }
    SynchronousSearch more(problem, options, search, std::move(known));
    made.outcome = solve(problem, options, search, &more);
    synchronous = more.take();
  } else {
    made.outcome = solve(problem, options, search);
  }

  std::optional<Joules> energy;
  if (made.outcome.planned) {
    made.plan = std::move(made.outcome.planned->plan);
    made.outcome.schedule = std::move(made.outcome.planned->schedule);
    energy = made.outcome.planned->energy;
  } else if (!made.outcome.schedule.stages.empty()) {
    made.plan = linearise(instance, made.outcome.schedule, problem.semantics);
    energy = energy_of(instance, made.plan, timeline_of(instance, made.plan));
  }
  if (!synchronous.empty()) made.placed = std::move(synchronous.front().placed);
  if (!synchronous.empty() && !(energy && *energy <= synchronous.front().energy)) {
    use_synchronous(instance, std::move(synchronous.front()), made);
    synchronous.erase(synchronous.begin());
  }
  made.others = std::move(synchronous);
  return made;
}

bool holds(const SolveRequest& problem, const PlacedPlan& placed) {
  const auto& [instance, limits, semantics] = problem;
  return replay(instance, placed.plan, semantics, limits).valid &&
         replay_layout(instance, placed.plan, placed.layout, semantics, limits).valid;
}

/// The same where persistent values are paged, by the instance with loads. Its schedules say nothing of the
/// original instance; what is left of them is the plan. Loads beside compute take no time in that instance:
/// where the plan then is late, another one is sought that has so much less time, up to `tries` in all.
Attempt solve_with_loads(const SolveRequest& problem, SolveOptions options, bool synchronous_too,
                         const Stop& whole_search, Seconds earlier = Seconds(0), int tries = 3) {
  const bool may_be_late = problem.limits.deadline && problem.instance.costs.timing.concurrent && tries > 1;
  const Stop search = may_be_late ? whole_search.at_most(whole_search.remaining() / 2) : whole_search;
  const Instance& instance = problem.instance;
  WithLoads loads = with_loads(instance);
  if (!options.rematerialization) {  // which does not mean loads
    for (const OpId op : ids<OpId>(loads.original.size()))
      if (loads.original[op].valid()) loads.instance.graph.ops[op].recomputable = false;
    options.rematerialization = true;
  }
  if (problem.limits.max_bytes_written && *problem.limits.max_bytes_written < loads.written_home) {
    Attempt none;
    none.outcome.certificate = certify_none(Status::infeasible, {});
    none.outcome.explanation.reason =
        fmt::format("a step writes {} bytes home to storage, over the limit of {}",
                    loads.written_home.value(), problem.limits.max_bytes_written->value());
    return none;
  }
  SolveRequest with{loads.instance, limits_with_loads(loads, problem.limits), problem.semantics};
  if (earlier > Seconds(0)) *with.limits.deadline -= earlier;
  Attempt made = solve_and_lower(with, options, synchronous_too, search);
  made.synchronous = true;
  const auto without = [&](const Plan& plan) {
    const Plan timed = timed_without_loads(instance, loads, plan, problem.limits);
    return plan_transfers(instance, timed, Semantics::device, problem.limits, search.when_cancelled());
  };
  const auto in_time = [&](const Plan& plan) {
    const auto& deadline = problem.limits.deadline;
    return !deadline || timeline_of(instance, plan).makespan <= latest_end(deadline->value());
  };
  constexpr double kMoment = 0.1;
  const Stop moment = search.at_least(kMoment);
  std::vector<SynchronousPlan> others;
  for (const SynchronousPlan& with_loads : made.others) {
    if (moment()) break;
    SynchronousPlan other;
    other.plan = without(with_loads.plan);
    other.energy = energy_of(instance, other.plan, timeline_of(instance, other.plan));
    other.seconds_to_first = with_loads.seconds_to_first;
    if (in_time(other.plan)) others.push_back(std::move(other));
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.energy < b.energy; });
  made.others.clear();
  made.outcome.schedule = {};
  OpId& binding = made.outcome.explanation.binding_op;
  while (binding.valid() && !loads.original[binding].valid()) binding = OpId(binding.index + 1);  // a reader
  if (binding.valid()) binding = loads.original[binding];
  if (made.plan.steps.empty()) return made;
  made.plan = without(made.plan);
  if (made.placed) {
    made.placed = placed_without_loads(instance, loads, *made.placed);
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
    std::optional<PlacedPlan> placed = std::move(made.placed);
    made = solve_with_loads(problem, options, synchronous_too, whole_search, earlier, tries - 1);
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

/// In place of the plan whose addresses do not fit.
void use_placed(const CompileRequest& request, PlacedPlan placed, Attempt& made) {
  made.plan = std::move(placed.plan);
  made.layout = std::move(placed.layout);
  made.outcome.schedule = has_paged(request.instance) ? Schedule{} : stages_of(request.instance, made.plan);
  made.synchronous = true;
  made.over = request.instance.costs.persistent + made.layout.arena - request.limits.ram_budget;
  verify_plan(request, made);
}

/// Where that is free.
void leave_slack(const CompileRequest& request, const Stop& stop, Attempt& made) {
  std::optional<PlacedPlan> slack = placed_with_slack(request, made.plan, made.report, stop);
  if (!slack) return;
  made.plan = std::move(slack->plan);
  made.layout = std::move(slack->layout);
  verify_plan(request, made);
}

/// Place; of another plan than the best one with less effort.
void find_addresses(const CompileRequest& request, Time& time, Attempt& made, bool best = true) {
  constexpr int kLessEffort = 10;
  const Instance& instance = request.instance;
  const bool device = request.semantics == Semantics::device;
  PlaceOptions options;
  options.enough = made.report.peak_ram - instance.costs.persistent;  // the liveness lower bound
  options.stop = time.finish();
  constexpr std::size_t kLarge = 4'000;  // ops: there a search with less RAM takes long
  constexpr double kMoment = 3;
  const bool has_other = made.placed && instance.graph.ops.size() > kLarge;
  if (has_other) options.stop = options.stop.at_most(kMoment);
  if (device && !has_other && best) options.room = transient_budget(instance.costs, request.limits);
  if (!best) options.effort /= kLessEffort;
  if (!device) options.effort /= 20;  // the paper's semantics has no addresses
  made.layout = place(instance, made.plan, request.semantics, options);
  if (device) made.over = instance.costs.persistent + made.layout.arena - request.limits.ram_budget;
  if (made.over > Bytes(0) && has_other) use_placed(request, *made.placed, made);
}

Attempt run_passes(const CompileRequest& request, Bytes reserve, const Stop& search, Time& time) {
  const Instance& instance = request.instance;
  const Semantics semantics = request.semantics;
  SolveRequest problem{instance, request.limits, semantics};
  problem.limits.ram_budget -= reserve;
  SolveOptions options = request.options;
  options.explain = options.explain && reserve == Bytes(0);
  const bool synchronous = searches_synchronous(request);
  Attempt made = has_paged(instance) ? solve_with_loads(problem, options, synchronous, search)
                                     : solve_and_lower(problem, options, synchronous, search);
  if (made.plan.steps.empty()) return made;

  // Verify.
  verify_plan(request, made);

  if (request.addresses) find_addresses(request, time, made);
  return made;
}

/// The first of the other plans whose addresses fit.
std::optional<Attempt> other_that_fits(const CompileRequest& request, Time& time, Attempt& made) {
  for (SynchronousPlan& plan : made.others) {
    Attempt other;
    other.outcome = made.outcome;
    use_synchronous(request.instance, std::move(plan), other);
    verify_plan(request, other);
    find_addresses(request, time, other, false);
    if (other.over <= Bytes(0)) return other;
    if (time.finish()()) break;
  }
  return std::nullopt;
}

/// The last attempt, or an earlier one's other plan, and the reserves that led to it.
struct Fit {
  Attempt attempt;
  ReserveSearch reserves;
  Bytes reserve{};  // of the attempt

  [[nodiscard]] bool found() const { return !attempt.plan.steps.empty() && attempt.over <= Bytes(0); }
  [[nodiscard]] bool has_plan() const { return !attempt.plan.steps.empty() || reserves.solves() > 1; }
};

/// It is proven to the gap that is asked for, or a better one that is not saves no more than that.
bool is_good_enough(const CompileRequest& request, const Attempt& other, const Attempt& made,
                    const Bounds& bounds) {
  const double baseline = replay_keep_all(request.instance, request.semantics).energy.value();
  const double gap = request.options.gap;
  const auto open = [&](const Attempt& attempt, double bound) {
    return overhead_gap(attempt.report.energy.value(), bound, baseline) > gap;
  };
  const double bound = bounds.every_plan.value();
  return !open(other, bound) || (open(made, bound) && !open(other, made.report.energy.value()));
}

/// Reserves more RAM until the addresses fit as well. Bounds are the first attempt's: on what the whole
/// budget allows.
Fit run_until_addresses_fit(const CompileRequest& request, Time& time) {
  Fit fit{{}, ReserveSearch(request.limits.ram_budget)};
  Attempt& made = fit.attempt;
  std::optional<Bounds> bounds;
  long nodes = 0;
  std::optional<Bytes> over;
  std::optional<PlacedPlan> placed;
  std::optional<Attempt> other;  // of more energy than an attempt, but its addresses fit
  Bytes reserve_of_other{}, reserve_of_placed{};
  bool enough = false;
  Stop search = time.limit();
  do {
    fit.reserve = fit.reserves.reserve();
    made = run_passes(request, fit.reserve, search, time);
    if (!bounds) bounds = made.outcome.certificate.bounds;
    if (made.placed && !placed) {
      placed = std::exchange(made.placed, std::nullopt);
      reserve_of_placed = fit.reserve;
    }
    if (made.over > Bytes(0) && !other) {
      other = other_that_fits(request, time, made);
      reserve_of_other = fit.reserve;
      enough = other && is_good_enough(request, *other, made, *bounds);
    }
    search = time.finish();
    nodes += made.outcome.nodes;
    made.outcome.nodes = nodes;
    made.outcome.certificate.bounds = *bounds;
    over = made.plan.steps.empty() ? std::nullopt : std::optional(made.over);
  } while (fit.reserves.next(over) && !enough && !search() && request.options.solver != Solver::file);
  if (other && (!fit.found() || other->report.energy < made.report.energy)) {
    made = std::move(*other);
    made.outcome.nodes = nodes;
    made.outcome.certificate.bounds = *bounds;
    fit.reserve = reserve_of_other;
  }
  if (!fit.found() && placed) {
    use_placed(request, std::move(*placed), made);
    fit.reserve = reserve_of_placed;
  }
  return fit;
}

/// There are plans, but none whose addresses fit: with how much RAM there would be one, which is tried before
/// it is said.
void explain_no_addresses(const CompileRequest& request, const Fit& fit, Time& time, Outcome& outcome) {
  constexpr int kMostBudgets = 3;
  outcome.schedule = {};
  outcome.explanation = {};
  outcome.explanation.reason =
      "schedules fit the RAM budget, but not with an address in RAM for every value of theirs";
  CompileRequest wider = request;
  wider.options.explain = false;
  Bytes least = fit.reserves.least_budget();
  for (int i = 0; i < kMostBudgets && request.options.solver != Solver::file && !time.finish()(); ++i) {
    wider.limits.ram_budget = least;
    const Fit other = run_until_addresses_fit(wider, time);
    if (other.found()) outcome.explanation.least_ram = least;
    if (other.found() || other.reserves.least_budget() <= least) break;
    least = other.reserves.least_budget();
  }
}

}  // namespace

CompileResult compile(const CompileRequest& request) {
  check(request);
  if (request.on_time) return compile_on_time(request);
  if (request.best_order) return compile_best_order(request);
  if (request.choose_paged && request.semantics == Semantics::device) return compile_best_residence(request);
  const SolveOptions& options = request.options;
  Time time(request);
  CompileResult result;
  result.keep_all = replay_keep_all(request.instance, request.semantics);

  Fit fit = run_until_addresses_fit(request, time);
  if (fit.found()) leave_slack(request, time.finish(), fit.attempt);
  result.solves = fit.reserves.solves();
  result.outcome = std::move(fit.attempt.outcome);
  const Bounds bounds = result.outcome.certificate.bounds;
  if (!fit.found()) {
    Status status = result.outcome.certificate.status;
    if (fit.has_plan()) {
      explain_no_addresses(request, fit, time, result.outcome);
      status = Status::unknown;
    }
    result.certificate = result.outcome.certificate = certify_none(status, bounds);
    result.outcome.solve_seconds = time.limit().elapsed();
    return result;
  }
  result.plan = std::move(fit.attempt.plan);
  result.synchronous = fit.attempt.synchronous;
  result.report = std::move(fit.attempt.report);
  result.schedule_report = std::move(fit.attempt.schedule_report);
  result.layout = std::move(fit.attempt.layout);
  result.reserve = fit.reserve;
  if (request.addresses) {
    result.arena =
        replay_layout(request.instance, result.plan, result.layout, request.semantics, request.limits);
    ensure(result.arena.valid, ("the verifier rejects the addresses: " + result.arena.violation).c_str());
  }

  // Certify.
  const Joules energy = result.report.energy;
  const Joules baseline = result.keep_all.energy;
  result.certificate = certify(energy, baseline, bounds, options.gap);
  result.overhead = baseline > Joules(0) ? energy / baseline - 1 : 0;
  if (request.semantics == Semantics::device && request.instance.costs.timing.variation)
    result.expected = simulate(request.instance, result.plan);
  result.outcome.solve_seconds = time.limit().elapsed();
  return result;
}

}  // namespace poet
