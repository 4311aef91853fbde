#include "poet/feedback.h"

#include <algorithm>
#include <utility>

namespace poet {
namespace {

constexpr int kMostSolves = 4;
constexpr int kMostBudgets = 3;

bool interrupted(const SolveOptions& options) { return options.interrupted && options.interrupted(); }

/// For another attempt: what is left of the time limit. Where it is used up, a tenth of it, or a little.
SolveOptions options_left(const CompileRequest& request, const Clock& clock) {
  SolveOptions options = request.options;
  const double limit = options.time_limit_seconds;
  options.time_limit_seconds = std::max(limit - clock.seconds(), std::min(0.1 * limit, 0.4));
  options.explain = false;
  return options;
}

}  // namespace

Fit solve_until_it_fits(const CompileRequest& request, const SolveOptions& options, const Try& attempt,
                        const Clock& clock) {
  Fit fit;
  fit.attempt = attempt(request, options, Bytes(0));
  const Bounds bounds = fit.attempt.outcome.certificate.bounds;  // on what the whole budget allows
  Bytes over = fit.attempt.over;
  Bytes too_little{};                          // held back so much, a schedule's addresses did not fit
  Bytes too_much = request.limits.ram_budget;  // held back so much, there is no schedule
  fit.least = request.limits.ram_budget + over;
  // An external solver may be interactive.
  while (over > Bytes(0) && fit.solves < kMostSolves && options.solver != Solver::file) {
    const Bytes half_way((too_little + too_much).value() / 2);
    const Bytes reserve = too_little + over < too_much ? too_little + over : half_way;
    if (reserve == too_little || interrupted(options)) break;
    const long nodes = fit.attempt.outcome.nodes;
    fit.attempt = attempt(request, options_left(request, clock), reserve);
    fit.reserve = reserve;
    ++fit.solves;
    Outcome& outcome = fit.attempt.outcome;
    outcome.nodes += nodes;
    outcome.certificate.bounds = bounds;
    outcome.solve_seconds = outcome.seconds_to_incumbent = clock.seconds();
    if (fit.attempt.plan.steps.empty()) {
      too_much = reserve;
      continue;
    }
    over = fit.attempt.over;
    too_little = reserve;
    fit.least = std::min(fit.least, request.limits.ram_budget + over);
  }
  return fit;
}

Outcome no_addresses(const CompileRequest& request, const Fit& fit, const Try& attempt, const Clock& clock) {
  Outcome outcome = fit.attempt.outcome;
  outcome.schedule = {};
  outcome.certificate = certify_none(Status::unknown, outcome.certificate.bounds);
  outcome.explanation = {};
  outcome.explanation.reason =
      "schedules fit the RAM budget, but not with an address in RAM for every value of theirs";
  CompileRequest wider = request;
  wider.limits.ram_budget = fit.least;
  for (int i = 0; i < kMostBudgets && request.options.solver != Solver::file; ++i) {
    if (interrupted(request.options)) break;
    const Fit other = solve_until_it_fits(wider, options_left(request, clock), attempt, clock);
    if (other.found()) outcome.explanation.least_ram = wider.limits.ram_budget;
    if (other.found() || other.least <= wider.limits.ram_budget) break;
    wider.limits.ram_budget = other.least;
  }
  outcome.solve_seconds = clock.seconds();
  return outcome;
}

}  // namespace poet
