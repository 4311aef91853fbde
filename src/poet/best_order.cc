#include "poet/best_order.h"

#include <algorithm>
#include <string>
#include <utility>

#include "poet/cost/reorder.h"
#include "poet/optimize/order/least_peak.h"
#include "poet/plan/allowance.h"

namespace poet {
namespace {

// For the order that is tried first, mostly the network's: its plan is to be as good as without the other
// order.
constexpr double kPartOfTime = 0.75;

bool is_better(const CompileResult& one, const CompileResult& other) {
  if (!one.has_plan() || !other.has_plan()) return one.has_plan();
  return one.report.energy < other.report.energy;
}

/// Returns whether the RAM floor or the time of computing everything once, the same in every order, exceeds a
/// limit.
bool impossible_in_any_order(const CompileRequest& request, const CompileResult& result) {
  if (result.certificate.status != Status::infeasible) return false;
  const Limits& limits = request.limits;
  return (!request.choose_paged &&
          limits.ram_budget < ram_floor(request.instance, request.semantics).bytes()) ||
         (limits.deadline && latest_end(*limits.deadline) < result.keep_all.runtime);
}

void certify_for_any_order(const CompileRequest& request, CompileResult& result) {
  const Bounds bounds{result.keep_all.energy, std::nullopt};
  if (result.has_plan()) {
    result.of_this_order = result.certificate;
    const std::string note = result.certificate.note;
    result.certificate = certify(result.report.energy, result.keep_all.energy, bounds, request.options.gap);
    if (result.certificate.note.empty()) result.certificate.note = note;
  } else if (!impossible_in_any_order(request, result)) {
    if (result.certificate.status == Status::infeasible) {  // in one order
      result.outcome.explanation = {};
      result.outcome.explanation.reason = "no plan was found in the orders of ops that were tried";
    }
    result.certificate = certify_none(Status::unknown, bounds);
  }
  result.outcome.certificate = result.certificate;
}

CompileResult compile_within(CompileRequest request, const Stop& stop, double share) {
  request.best_order = false;
  request.options.time_limit_seconds = time_limit_within(stop, share);
  return compile(request);
}

}  // namespace

CompileResult compile_best_order(const CompileRequest& request) {
  verify(request.instance);
  const Stop stop = stop_of(request.options);
  const LeastPeak least = least_peak_order(request.instance, request.semantics, {}, stop);
  const bool is_given = std::is_sorted(least.order.begin(), least.order.end());
  CompileRequest other = request;
  if (!is_given) other.instance = reordered(request.instance, least.order);
  const bool keeps_all =
      !is_given && replay_keep_all(other.instance, request.semantics).peak_ram <= request.limits.ram_budget;

  CompileResult best;
  bool is_first = true;
  bool timed_out = false;
  for (const bool in_other : {keeps_all, !keeps_all}) {
    if (in_other && is_given) continue;
    const double part = is_first && !is_given ? kPartOfTime : 1;
    CompileRequest one = in_other ? other : request;
    one.options.on_progress = map_progress(request.options.on_progress, [&](Progress& progress) {
      progress.bound_joules.reset();  // of this order
      progress.staged_bound_joules.reset();
      if (!is_first && best.has_plan()) cap_plan_energy(progress, best.report.energy);
    });
    const double began = stop.elapsed();
    CompileResult found = compile_within(std::move(one), stop, part);
    found.outcome.seconds_to_incumbent += began;
    timed_out = timed_out || found.outcome.timed_out;
    if (in_other) found.order = least.order;
    certify_for_any_order(request, found);
    if (best.has_plan()) found.outcome.seconds_to_incumbent = best.outcome.seconds_to_incumbent;
    if (is_first || is_better(found, best)) best = std::move(found);
    if (best.has_plan() && (best.overhead <= 0 || stop.cancelled())) break;
    is_first = false;
  }
  best.outcome.solve_seconds = stop.elapsed();
  best.outcome.timed_out = timed_out || stop.expired();
  return best;
}

}  // namespace poet
