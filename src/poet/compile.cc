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

/// The feedback edge: RAM that is lost between addresses is no RAM for the schedule.
void solve_until_it_fits(const CompileRequest& request, CompileResult& result) {
  const Outcome first = result.outcome;
  Bytes enough = request.limits.ram_budget + excess(request, result);
  double seconds = first.solve_seconds;
  while (result.solves < kMostSolves) {
    result.held_back += excess(request, result);
    Limits limits = request.limits;
    limits.ram_budget -= result.held_back;
    SolveOptions options = request.options;
    options.time_limit_seconds -= seconds;
    const bool interrupted = options.interrupted && options.interrupted();
    if (interrupted || limits.ram_budget <= Bytes(0) || options.time_limit_seconds <= 0) break;
    ++result.solves;
    result.outcome = solve({request.instance, limits, request.semantics}, options);
    seconds += result.outcome.solve_seconds;
    if (result.outcome.schedule.stages.empty()) break;
    plan_and_place(request, result);
    result.outcome.solve_seconds = result.outcome.seconds_to_incumbent = seconds;
    result.outcome.nodes += first.nodes;
    result.outcome.bound = first.bound;
    if (excess(request, result) <= Bytes(0)) return;
    enough = std::min(enough, request.limits.ram_budget + excess(request, result));
  }
  result.outcome = first;
  result.outcome.schedule = {};
  result.outcome.status = Status::unknown;
  result.outcome.solve_seconds = seconds;
  result.outcome.explanation.least_ram = enough;
  result.outcome.explanation.reason =
      fmt::format("schedules fit the RAM budget, but not with an address for every value; with {} bytes one does",
                  enough.value());
  result.plan = {};
  result.layout = {};
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
  if (excess(request, result) > Bytes(0)) solve_until_it_fits(request, result);
  if (result.outcome.schedule.stages.empty()) return result;

  result.arena = replay_layout(instance, result.plan, result.layout, request.semantics, request.limits,
                               instance.costs.alignment);
  ensure(result.arena.valid, ("the referee rejects the addresses: " + result.arena.broken).c_str());
  judge(request, result);
  return result;
}

}  // namespace poet
