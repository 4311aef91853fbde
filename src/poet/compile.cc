#include "poet/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// From the schedule to steps, and from there to addresses.
void plan_and_place(const CompileRequest& request, CompileResult& result) {
  const Instance& instance = request.instance;
  const Limits& limits = request.limits;
  result.plan = linearise(instance, result.outcome.schedule, request.semantics);
  if (request.semantics == Semantics::device) result.plan = plan_transfers(instance, result.plan, limits);
  result.schedule_report = replay(instance, result.outcome.schedule, request.semantics, limits);
  result.report = replay(instance, result.plan, request.semantics, limits);
  ensure(result.schedule_report.valid,
         ("the referee rejects the schedule: " + result.schedule_report.broken).c_str());
  ensure(result.report.valid, ("the referee rejects the plan: " + result.report.broken).c_str());

  // A smaller arena than what is alive at one time is luck that nobody needs.
  const Bytes enough = result.report.peak_ram - instance.costs.persistent;
  result.layout = place(instance, result.plan, request.semantics, instance.costs.alignment, enough,
                        request.options.interrupted);
}

/// How much more RAM the addresses need than there is. The paper's world has no addresses.
Bytes excess(const CompileRequest& request, const CompileResult& result) {
  if (request.semantics != Semantics::device) return Bytes(0);
  return request.instance.costs.persistent + result.layout.arena - request.limits.ram_budget;
}

/// For another attempt: what is left of the time limit. A solve that used it up leaves a tenth of it, or a
/// little.
double time_left(const CompileRequest& request, double spent) {
  const double limit = request.options.time_limit_seconds;
  return std::max(limit - spent, std::min(0.1 * limit, 0.4));
}

/// The feedback edge: RAM that is lost between addresses is no RAM for the schedule. Holds back as much as
/// the addresses are over; where that leaves too little, half as much. False when no attempt fits; `least` is
/// then the least budget at which one would have.
bool solve_until_it_fits(const CompileRequest& request, CompileResult& result, Bytes& least) {
  const Bytes budget = request.limits.ram_budget;
  const Outcome first = result.outcome;
  Bytes over = excess(request, result);
  Bytes too_little{};       // held back so much, a schedule's addresses did not fit
  Bytes too_much = budget;  // held back so much, there is no schedule
  least = budget + over;
  while (result.solves < kMostSolves) {
    const Bytes half_way = too_little + Bytes((too_much - too_little).value() / 2);
    result.held_back = too_little + over < too_much ? too_little + over : half_way;
    Limits limits = request.limits;
    limits.ram_budget -= result.held_back;
    SolveOptions options = request.options;
    options.explain = false;
    options.time_limit_seconds = time_left(request, result.outcome.solve_seconds);
    if (result.held_back == too_little || (options.interrupted && options.interrupted())) return false;

    Outcome outcome = solve({request.instance, limits, request.semantics}, options);
    ++result.solves;
    outcome.solve_seconds += result.outcome.solve_seconds;
    outcome.seconds_to_incumbent = outcome.solve_seconds;
    outcome.nodes += result.outcome.nodes;
    outcome.bound = first.bound;  // on what the whole budget allows
    result.outcome = std::move(outcome);
    if (result.outcome.schedule.stages.empty()) {
      too_much = result.held_back;
      continue;
    }
    plan_and_place(request, result);
    over = excess(request, result);
    if (over <= Bytes(0)) return true;
    too_little = result.held_back;
    least = std::min(least, budget + over);
  }
  return false;
}

/// No plan, and with how much RAM there is one: that is tried before it is said.
void give_up(const CompileRequest& request, CompileResult& result, Bytes least) {
  result.plan = {};
  result.layout = {};
  Outcome& outcome = result.outcome;
  outcome.schedule = {};
  outcome.status = Status::unknown;
  outcome.explanation = {};
  outcome.explanation.reason =
      "schedules fit the RAM budget, but not with an address in RAM for every value of theirs";
  CompileRequest wider = request;
  wider.limits.ram_budget = least;
  wider.options.explain = false;
  wider.options.time_limit_seconds = time_left(request, outcome.solve_seconds);
  if (wider.options.interrupted && wider.options.interrupted()) return;
  const CompileResult other = compile(wider);
  outcome.solve_seconds += other.outcome.solve_seconds;
  outcome.explanation.least_ram = other.plan.steps.empty() ? other.outcome.explanation.least_ram : least;
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
  const Instance& instance = request.instance;
  CompileResult result;
  result.keep_all = replay_keep_all(instance, request.semantics);
  result.outcome = solve({instance, request.limits, request.semantics}, request.options);
  if (result.outcome.schedule.stages.empty()) return result;

  plan_and_place(request, result);
  Bytes least{};
  if (excess(request, result) > Bytes(0) && !solve_until_it_fits(request, result, least)) {
    give_up(request, result, least);
    return result;
  }
  result.arena = replay_layout(instance, result.plan, result.layout, request.semantics, request.limits,
                               instance.costs.alignment);
  ensure(result.arena.valid, ("the referee rejects the addresses: " + result.arena.broken).c_str());
  judge(request, result);
  return result;
}

}  // namespace poet
