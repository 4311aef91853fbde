#include "poet/compile.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "poet/base/error.h"
#include "poet/optimize/solve.h"
#include "poet/plan/transfers.h"

namespace poet {
namespace {

void check(const CompileRequest& request) {
  verify(request.instance);
  if (request.limits.ram_budget.value() <= 0) throw InputError("RAM budget", "must be > 0");
  if (request.limits.deadline &&
      !(request.limits.deadline->value() > 0 && std::isfinite(request.limits.deadline->value())))
    throw InputError("deadline", "must be > 0 and finite");
  if (request.limits.max_bytes_written && request.limits.max_bytes_written->value() < 0)
    throw InputError("bytes written", "must be >= 0");
  if (!(request.options.gap >= 0)) throw InputError("gap", "must be >= 0");
  if (!(request.options.time_limit_seconds > 0)) throw InputError("time limit", "must be > 0");
  if (request.options.threads < 1) throw InputError("solve threads", "must be >= 1");
}

constexpr int kMostSolves = 4;
constexpr int kMostBudgets = 3;

class Clock {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A solve and what its schedule becomes.
struct Attempt {
  Outcome outcome;
  Plan plan;  // empty without a schedule; so is what follows
  Layout layout;
  Report report;
  Report schedule_report;
  Bytes over{};  // how much more RAM its addresses need than there is
};

/// Solves with `held_back` of the RAM budget left out; plans, and looks for addresses, with all of it.
Attempt attempt(const CompileRequest& request, const SolveOptions& options, Bytes held_back) {
  const Instance& instance = request.instance;
  const Semantics semantics = request.semantics;
  const Limits& limits = request.limits;
  Limits tightened = limits;
  tightened.ram_budget -= held_back;
  Attempt made;
  made.outcome = solve({instance, tightened, semantics}, options);
  if (made.outcome.schedule.stages.empty()) return made;

  made.plan = linearise(instance, made.outcome.schedule, semantics);
  made.plan = plan_transfers(instance, made.plan, semantics, limits);
  made.schedule_report = replay(instance, made.outcome.schedule, semantics, limits);
  made.report = replay(instance, made.plan, semantics, limits);
  ensure(made.schedule_report.valid,
         ("the referee rejects the schedule: " + made.schedule_report.broken).c_str());
  ensure(made.report.valid, ("the referee rejects the plan: " + made.report.broken).c_str());

  PlaceOptions place_options;
  // A smaller arena than what is alive at one time is luck that nobody needs.
  place_options.enough = made.report.peak_ram - instance.costs.persistent;
  const bool device = semantics == Semantics::device;
  if (!device) place_options.effort /= 20;  // the paper's world has no addresses
  made.layout = place(instance, made.plan, semantics, place_options);
  if (device) made.over = instance.costs.persistent + made.layout.arena - limits.ram_budget;
  return made;
}

bool interrupted(const SolveOptions& options) { return options.interrupted && options.interrupted(); }

/// For another attempt: what is left of the time limit. Where it is used up, a tenth of it, or a little.
SolveOptions options_left(const CompileRequest& request, const Clock& clock) {
  SolveOptions options = request.options;
  const double limit = options.time_limit_seconds;
  options.time_limit_seconds = std::max(limit - clock.seconds(), std::min(0.1 * limit, 0.4));
  options.explain = false;
  return options;
}

struct Fit {
  Attempt attempt;
  int solves = 1;
  Bytes held_back{};
  Bytes least{};  // without a fit: the least budget at which an attempt would have been one

  [[nodiscard]] bool found() const { return !attempt.plan.steps.empty() && attempt.over <= Bytes(0); }
};

/// The feedback edge: RAM that is lost between addresses is no RAM for the schedule. Holds back as much as
/// the addresses are over; where that leaves too little, half as much, a few times.
Fit solve_until_it_fits(const CompileRequest& request, const SolveOptions& options, const Clock& clock) {
  Fit fit;
  fit.attempt = attempt(request, options, Bytes(0));
  const Joules bound = fit.attempt.outcome.bound;  // on what the whole budget allows
  Bytes over = fit.attempt.over;
  Bytes too_little{};                          // held back so much, a schedule's addresses did not fit
  Bytes too_much = request.limits.ram_budget;  // held back so much, there is no schedule
  fit.least = request.limits.ram_budget + over;
  // A solver outside of this program may be somebody's hands.
  while (over > Bytes(0) && fit.solves < kMostSolves && options.solver != Solver::file) {
    const Bytes half_way((too_little + too_much).value() / 2);
    const Bytes held_back = too_little + over < too_much ? too_little + over : half_way;
    if (held_back == too_little || interrupted(options)) break;
    long nodes = fit.attempt.outcome.nodes;
    fit.attempt = attempt(request, options_left(request, clock), held_back);
    fit.held_back = held_back;
    ++fit.solves;
    Outcome& outcome = fit.attempt.outcome;
    outcome.nodes += nodes;
    outcome.bound = bound;
    outcome.solve_seconds = outcome.seconds_to_incumbent = clock.seconds();
    if (fit.attempt.plan.steps.empty()) {
      too_much = held_back;
      continue;
    }
    over = fit.attempt.over;
    too_little = held_back;
    fit.least = std::min(fit.least, request.limits.ram_budget + over);
  }
  return fit;
}

/// Schedules, but no addresses for them. With how much RAM there are some is tried before it is said.
Outcome no_addresses(const CompileRequest& request, const Fit& fit, const Clock& clock) {
  Outcome outcome = fit.attempt.outcome;
  outcome.schedule = {};
  outcome.status = Status::unknown;
  outcome.explanation = {};
  outcome.explanation.reason =
      "schedules fit the RAM budget, but not with an address in RAM for every value of theirs";
  CompileRequest wider = request;
  wider.limits.ram_budget = fit.least;
  for (int i = 0; i < kMostBudgets && request.options.solver != Solver::file; ++i) {
    if (interrupted(request.options)) break;
    const Fit other = solve_until_it_fits(wider, options_left(request, clock), clock);
    if (other.found()) outcome.explanation.least_ram = wider.limits.ram_budget;
    if (other.found() || other.least <= wider.limits.ram_budget) break;
    wider.limits.ram_budget = other.least;
  }
  outcome.solve_seconds = clock.seconds();
  return outcome;
}

/// gap = what is open / what is above the unavoidable baseline.
void judge(const CompileRequest& request, CompileResult& result) {
  const double energy = result.report.energy.value();
  const double baseline = result.keep_all.energy.value();
  // The bound is on schedules in stage form; transfers at better moments may come below it.
  result.outcome.bound = std::min(result.outcome.bound, result.report.energy);
  const double open = energy - result.outcome.bound.value();
  result.gap = open <= 1e-9 * baseline ? 0 : open / (energy - baseline);
  result.overhead = baseline > 0 ? energy / baseline - 1 : 0;
  if (result.gap <= request.options.gap)
    result.outcome.status = Status::optimal;
  else if (result.solves > 1)
    result.outcome.status = Status::feasible;
}

}  // namespace

CompileResult compile(const CompileRequest& request) {
  check(request);
  const Clock clock;
  CompileResult result;
  result.keep_all = replay_keep_all(request.instance, request.semantics);
  Fit fit = solve_until_it_fits(request, request.options, clock);
  result.solves = fit.solves;
  if (!fit.found()) {
    const bool scheduled = fit.solves > 1 || !fit.attempt.plan.steps.empty();
    result.outcome = scheduled ? no_addresses(request, fit, clock) : std::move(fit.attempt.outcome);
    return result;
  }
  result.held_back = fit.held_back;
  result.outcome = std::move(fit.attempt.outcome);
  result.plan = std::move(fit.attempt.plan);
  result.layout = std::move(fit.attempt.layout);
  result.report = fit.attempt.report;
  result.schedule_report = fit.attempt.schedule_report;
  result.arena =
      replay_layout(request.instance, result.plan, result.layout, request.semantics, request.limits);
  ensure(result.arena.valid, ("the referee rejects the addresses: " + result.arena.broken).c_str());
  judge(request, result);
  return result;
}

}  // namespace poet
