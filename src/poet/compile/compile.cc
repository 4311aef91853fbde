// From a posed problem (poet/pipeline poses it) to a certified plan.

#include "poet/compile/compile.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/compile/placed_with_slack.h"
#include "poet/compile/portfolio.h"
#include "poet/compile/variants/forms.h"
#include "poet/plan/layout/layout.h"
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
  if (request.on_time) check_on_time(request);
}

/// The request as it is meant.
CompileRequest settled(CompileRequest request, const Clock& clock) {
  constexpr Bytes kMostRam{std::int64_t{1} << 60};  // sums of larger budgets and sizes could overflow
  request.limits.ram_budget = std::min(request.limits.ram_budget, kMostRam);
  request.choose_paged = request.choose_paged && request.semantics == Semantics::device;
#ifdef __SANITIZE_ADDRESS__
  // GCC 12's AddressSanitizer does not free its allocator for a child that is forked meanwhile.
  request.options.threads = 1;
#endif
  request.options.interrupted = [&clock] { return clock.limit().cancelled(); };
  return request;
}

/// Searches for addresses in a smaller arena: during the search, those that fit the budget are enough.
void compact(const CompileRequest& request, const Stop& stop, const Instance& instance, CompileResult& made) {
  if (request.semantics != Semantics::device || !request.addresses) return;
  PlaceOptions options;
  options.enough = made.report.peak_ram - instance.costs.persistent;
  options.stop = stop;
  if (made.layout.arena <= options.enough) return;
  Layout layout = place(instance, made.plan, request.semantics, options);
  if (layout.arena >= made.layout.arena) return;
  made.layout = std::move(layout);
  made.arena = replay_layout(instance, made.plan, made.layout, request.semantics, request.limits);
  ensure_accepted(made.arena, "the addresses");
}

/// Adds slack to the best plan's transfers if it costs no energy or time.
void leave_slack(const CompileRequest& request, const Stop& stop, const Instance& instance,
                 CompileResult& made) {
  std::optional<PlacedPlan> slack = placed_with_slack(request, instance, made.plan, made.report, stop);
  if (!slack) return;
  std::optional<SimulatedSteps> expected;
  if (made.expected) expected = simulate(instance, slack->plan);
  if (request.on_time && expected->share_within(*request.limits.deadline) < *request.on_time) return;
  made.plan = std::move(slack->plan);
  made.layout = std::move(slack->layout);
  made.report = replay(instance, made.plan, request.semantics, request.limits);
  if (made.synchronous) made.schedule_report = made.report;
  if (request.addresses)
    made.arena = replay_layout(instance, made.plan, made.layout, request.semantics, request.limits);
  made.expected = std::move(expected);
}

/// Completes an answer without a plan.
void say_why(const CompileRequest& request, const Form& given, Explanation why, CompileResult& result) {
  result.instance = std::make_shared<const Instance>(given.instance);
  result.cut = given.cut;
  result.outcome.explanation = std::move(why);
  const bool infeasible = result.certificate.status == Status::infeasible;
  if (!infeasible || !request.best_order || is_impossible_in_any_order(request, given)) return;
  result.outcome.explanation = {};
  result.outcome.explanation.reason = "no plan was found in the orders of ops that were tried";
  result.certificate = result.outcome.certificate = certify_none(Status::unknown, result.certificate.bounds);
}

}  // namespace

CompileResult compile(const CompileRequest& asked) {
  check(asked);
  Clock clock(asked.options);
  const CompileRequest request = settled(asked, clock);
  Ledger ledger(request, clock);
  Portfolio portfolio(request, clock, ledger);

  portfolio.begin();
  while (portfolio.go_on()) {
  }
  bool timed_out = portfolio.lacks_time();
  portfolio.finish();
  Outcome why;
  if (!ledger.has_plan() || request.options.solver == Solver::file) why = portfolio.explain();
  timed_out = timed_out || why.timed_out;

  CompileResult result = ledger.answer(portfolio.has_more_cuts());
  if (!result.has_plan()) result.keep_all = portfolio.given().keep_all;
  if (result.has_plan()) {
    leave_slack(request, clock.finish(), *result.instance, result);
    compact(request, clock.finish(), *result.instance, result);
  } else {
    say_why(request, portfolio.leanest(), std::move(why.explanation), result);
  }
  result.outcome.next_step = why.next_step;
  result.outcome.external_solver = why.external_solver;
  result.solves = 1 + portfolio.reserves();
  result.outcome.timed_out = timed_out;
  result.outcome.solve_seconds = clock.limit().elapsed();
  return result;
}

}  // namespace poet
