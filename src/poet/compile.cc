#include "poet/compile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "poet/base/error.h"
#include "poet/feedback.h"
#include "poet/optimize/solve_plan.h"
#include "poet/plan/allowance.h"

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

/// The stages, from the problem to addresses. `reserve` is left out of the RAM budget of the solve alone.
Attempt attempt(const CompileRequest& request, const SolveOptions& options, Bytes reserve) {
  const Instance& instance = request.instance;
  const Semantics semantics = request.semantics;
  const Limits& limits = request.limits;
  const Stop stop(options.time_limit_seconds, options.interrupted);
  Limits tightened = limits;
  tightened.ram_budget -= reserve;
  Attempt made;
  PlannedOutcome planned = solve_plan({instance, tightened, semantics}, options);
  made.outcome = std::move(planned.outcome);
  made.plan = std::move(planned.plan);
  made.synchronous = planned.synchronous;
  if (made.plan.steps.empty()) return made;

  made.report = replay(instance, made.plan, semantics, limits);
  ensure(made.report.valid, ("the verifier rejects the plan: " + made.report.violation).c_str());
  made.schedule_report = made.report;  // a plan between ops has no stage form
  if (!made.synchronous) made.schedule_report = replay(instance, made.outcome.schedule, semantics, limits);
  ensure(made.schedule_report.valid,
         ("the verifier rejects the schedule: " + made.schedule_report.violation).c_str());

  PlaceOptions place_options;
  // What is alive at one time is the liveness lower bound: the search stops there.
  place_options.enough = made.report.peak_ram - instance.costs.persistent;
  const bool device = semantics == Semantics::device;
  if (!device) place_options.effort /= 20;  // the paper's world has no addresses
  if (device) place_options.room = transient_budget(instance.costs, limits);
  // Time for addresses even where the solve has taken all: without them its plan is none.
  constexpr double kLeastSeconds = 0.3;
  place_options.stop = stop() ? Stop(kLeastSeconds) : stop.at_least(kLeastSeconds);
  made.layout = place(instance, made.plan, semantics, place_options);
  if (device) made.over = instance.costs.persistent + made.layout.arena - limits.ram_budget;
  return made;
}

}  // namespace

CompileResult compile(const CompileRequest& request) {
  check(request);
  const Clock clock;
  CompileResult result;
  result.keep_all = replay_keep_all(request.instance, request.semantics);
  Fit fit = solve_until_it_fits(request, request.options, attempt, clock);
  result.solves = fit.solves;
  if (!fit.found()) {
    const bool scheduled = fit.solves > 1 || !fit.attempt.plan.steps.empty();
    result.outcome = scheduled ? no_addresses(request, fit, attempt, clock) : std::move(fit.attempt.outcome);
    result.certificate = certify_none(result.outcome.certificate.status, result.outcome.certificate.bounds);
    return result;
  }
  result.reserve = fit.reserve;
  result.outcome = std::move(fit.attempt.outcome);
  result.plan = std::move(fit.attempt.plan);
  result.layout = std::move(fit.attempt.layout);
  result.report = fit.attempt.report;
  result.synchronous = fit.attempt.synchronous;
  result.schedule_report = fit.attempt.schedule_report;
  result.arena =
      replay_layout(request.instance, result.plan, result.layout, request.semantics, request.limits);
  ensure(result.arena.valid, ("the verifier rejects the addresses: " + result.arena.violation).c_str());
  const Joules energy = result.report.energy;
  const Joules baseline = result.keep_all.energy;
  result.certificate = certify(energy, baseline, result.outcome.certificate.bounds, request.options.gap);
  result.overhead = baseline > Joules(0) ? energy / baseline - 1 : 0;
  return result;
}

}  // namespace poet
