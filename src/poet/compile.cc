// From a posed problem (poet/pipeline poses it) to a certified plan: solve, lower, schedule transfers,
// canonicalize and verify (solve_once.h), place, and again until addresses fit (place_until_fits.h), certify.
// All phases share one time limit and one cancellation.

#include "poet/compile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/best_order.h"
#include "poet/best_residence.h"
#include "poet/on_time.h"
#include "poet/optimize/transfer_bound.h"
#include "poet/place_until_fits.h"
#include "poet/placed_with_slack.h"
#include "poet/verify/accepted.h"

namespace poet {
namespace {

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

/// An exabyte. Sums of larger budgets and sizes could overflow.
constexpr Bytes kMostRam{std::int64_t{1} << 60};

/// Adds slack to transfers if it costs no energy or time.
void leave_slack(const CompileRequest& request, const Stop& stop, Attempt& made) {
  std::optional<PlacedPlan> slack = placed_with_slack(request, made.plan, made.report, stop);
  if (!slack) return;
  made.plan = std::move(slack->plan);
  made.layout = std::move(slack->layout);
  verify_plan(request, made);
}

/// Returns the bounds of solve(), raised to the bound from transfers that every plan needs.
Bounds bounds_of(const CompileRequest& request, const Outcome& outcome) {
  Bounds bounds = outcome.certificate.bounds;
  if (request.semantics != Semantics::device) return bounds;
  const Joules least = least_step(request.instance, request.limits.ram_budget).energy;
  bounds.every_plan = std::max(bounds.every_plan, least);
  if (bounds.staged && *bounds.staged <= bounds.every_plan) bounds.staged.reset();
  return bounds;
}

/// Explains that the addresses of no plan fit, and searches for a RAM budget with which a plan is found.
void explain_no_addresses(const CompileRequest& request, const FittedAttempt& fitted, TimeBudget& time,
                          Outcome& outcome) {
  constexpr int kMostBudgets = 3;
  outcome.schedule = {};
  outcome.explanation = {};
  outcome.explanation.reason =
      "schedules fit the RAM budget, but not with an address in RAM for every value of theirs";
  CompileRequest wider = request;
  wider.options.explain = false;
  wider.options.on_progress = nullptr;  // of another problem
  Bytes least = fitted.reserves.least_budget();
  for (int i = 0; i < kMostBudgets && request.options.solver != Solver::file && !time.finish()(); ++i) {
    wider.limits.ram_budget = least;
    const FittedAttempt other = place_until_fits(wider, time);
    if (other.fits()) outcome.explanation.least_ram = least;
    if (other.fits() || other.reserves.least_budget() <= least) break;
    least = other.reserves.least_budget();
  }
}

}  // namespace

CompileResult compile(const CompileRequest& request) {
  check(request);
  if (request.limits.ram_budget > kMostRam) {
    CompileRequest bounded = request;
    bounded.limits.ram_budget = kMostRam;
    return compile(bounded);
  }
  if (request.on_time) return compile_on_time(request);
  if (request.best_order) return compile_best_order(request);
  if (request.choose_paged && request.semantics == Semantics::device) return compile_best_residence(request);
  const SolveOptions& options = request.options;
  TimeBudget time(request);
  CompileResult result;
  result.keep_all = replay_keep_all(request.instance, request.semantics);

  FittedAttempt fitted = place_until_fits(request, time);
  if (fitted.fits()) leave_slack(request, time.finish(), fitted.attempt);
  result.solves = fitted.reserves.solves();
  result.outcome = std::move(fitted.attempt.outcome);
  const Bounds bounds = bounds_of(request, result.outcome);
  if (!fitted.fits()) {
    Status status = result.outcome.certificate.status;
    if (fitted.found_plan()) {
      explain_no_addresses(request, fitted, time, result.outcome);
      status = Status::unknown;
    }
    result.certificate = result.outcome.certificate = certify_none(status, bounds);
    result.outcome.solve_seconds = time.limit().elapsed();
    return result;
  }
  result.plan = std::move(fitted.attempt.plan);
  result.synchronous = fitted.attempt.synchronous;
  result.report = std::move(fitted.attempt.report);
  result.schedule_report = std::move(fitted.attempt.schedule_report);
  result.layout = std::move(fitted.attempt.layout);
  result.reserve = fitted.reserve;
  if (request.addresses) {
    result.arena =
        replay_layout(request.instance, result.plan, result.layout, request.semantics, request.limits);
    ensure_accepted(result.arena, "the addresses");
  }

  // Certify.
  const Joules energy = result.report.energy;
  const Joules baseline = result.keep_all.energy;
  result.certificate = certify(energy, baseline, bounds, options.gap);
  if (result.certificate.note.empty()) result.certificate.note = result.outcome.certificate.note;
  result.overhead = baseline > Joules(0) ? energy / baseline - 1 : 0;
  if (request.semantics == Semantics::device && request.instance.costs.timing.variation)
    result.expected = simulate(request.instance, result.plan);
  result.outcome.solve_seconds = time.limit().elapsed();
  return result;
}

}  // namespace poet
