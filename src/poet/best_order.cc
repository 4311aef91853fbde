#include "poet/best_order.h"

#include <algorithm>
#include <utility>

#include "poet/cost/reorder.h"
#include "poet/optimize/order/least_peak.h"
#include "poet/plan/allowance.h"

namespace poet {
namespace {

bool has_plan(const CompileResult& result) { return !result.plan.steps.empty(); }

bool is_better(const CompileResult& one, const CompileResult& other) {
  if (!has_plan(one) || !has_plan(other)) return has_plan(one);
  return one.report.energy < other.report.energy;
}

/// No order changes what computing everything once takes, and what one op needs.
bool impossible_in_any_order(const CompileRequest& request, const CompileResult& result) {
  if (result.certificate.status != Status::infeasible) return false;
  const Limits& limits = request.limits;
  return (!request.choose_paged &&
          limits.ram_budget < ram_floor(request.instance, request.semantics).bytes()) ||
         (limits.deadline && latest_end(*limits.deadline) < result.keep_all.runtime);
}

void certify_for_any_order(const CompileRequest& request, CompileResult& result) {
  const Bounds bounds{result.keep_all.energy, std::nullopt};
  if (has_plan(result)) {
    result.certificate = certify(result.report.energy, result.keep_all.energy, bounds, request.options.gap);
  } else if (!impossible_in_any_order(request, result)) {
    if (result.certificate.status == Status::infeasible) {  // in one order
      result.outcome.explanation = {};
      result.outcome.explanation.reason = "no plan was found in the orders of ops that were tried";
    }
    result.certificate = certify_none(Status::unknown, bounds);
  }
  result.outcome.certificate = result.certificate;
}

CompileResult compile_within(CompileRequest request, const Stop& stop, double seconds) {
  request.best_order = false;
  request.options.time_limit_seconds = std::max(1e-3, std::min(seconds, stop.remaining()));
  return compile(request);
}

}  // namespace

CompileResult compile_best_order(const CompileRequest& request) {
  verify(request.instance);
  const Stop stop = stop_of(request.options);
  const LeastPeak least = least_peak_order(request.instance, request.semantics, {}, stop);
  const bool is_given = std::is_sorted(least.order.begin(), least.order.end());
  CompileResult best;
  if (!is_given) {
    CompileRequest other = request;
    other.instance = reordered(request.instance, least.order);
    best = compile_within(std::move(other), stop, stop.remaining() / 2);
    best.order = least.order;
    certify_for_any_order(request, best);
  }
  if (is_given || (best.certificate.status != Status::optimal && !(stop.cancelled() && has_plan(best)))) {
    CompileResult given = compile_within(request, stop, stop.remaining());
    certify_for_any_order(request, given);
    given.solves += best.solves;
    given.outcome.nodes += best.outcome.nodes;
    if (is_given || !is_better(best, given)) best = std::move(given);
  }
  best.outcome.solve_seconds = stop.elapsed();
  return best;
}

}  // namespace poet
