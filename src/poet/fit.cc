#include "poet/fit.h"

#include <algorithm>
#include <utility>

#include "poet/plan/allowance.h"
#include "poet/plan/layout/addresses.h"
#include "poet/plan/schedule/stages_of.h"
#include "poet/roomy.h"

namespace poet {
namespace {

/// In place of the plan whose addresses do not fit.
void use_placed(const CompileRequest& request, PlacedPlan placed, Attempt& made) {
  made.plan = std::move(placed.plan);
  made.layout = std::move(placed.layout);
  made.outcome.schedule = has_paged(request.instance) ? Schedule{} : stages_of(request.instance, made.plan);
  made.synchronous = true;
  made.over = request.instance.costs.persistent + made.layout.arena - request.limits.ram_budget;
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
  constexpr double kMoment = 3;
  // A search with less RAM takes long there.
  const bool has_other = made.placed && is_large(instance.graph.ops.size());
  if (has_other) options.stop = options.stop.at_most(kMoment);
  if (device && !has_other && best) options.room = transient_budget(instance.costs, request.limits);
  if (!best) options.effort /= kLessEffort;
  if (!device) options.effort /= 20;  // the paper's semantics has no addresses
  made.layout = place(instance, made.plan, request.semantics, options);
  if (device) made.over = instance.costs.persistent + made.layout.arena - request.limits.ram_budget;
  if (made.over > Bytes(0) && has_other) use_placed(request, *made.placed, made);
}

/// The plan that is best but for its addresses, or the next one, with RAM in reserve for these. Where time is
/// up, in a moment more.
std::optional<Attempt> roomy(const CompileRequest& request, Bytes reserve, Time& time, const Attempt& made) {
  constexpr double kMoment = 0.4;
  if (request.semantics != Semantics::device || is_large(request.instance.graph.ops.size()))
    return std::nullopt;
  const Stop moment = time.limit().at_least(kMoment);
  std::optional<PlacedPlan> placed = roomy_plan(request, made.decided, reserve + made.over, moment);
  for (const SynchronousPlan& plan : made.others) {
    if (placed || moment()) break;
    placed = roomy_plan(request, plan.decided, reserve + made.over, moment);
  }
  const Limits& limits = request.limits;
  if (!placed || !replay(request.instance, placed->plan, request.semantics, limits).valid)
    return std::nullopt;
  Attempt other;
  other.outcome = made.outcome;
  use_placed(request, std::move(*placed), other);
  return other;
}

/// The first of the other plans whose addresses fit, if it needs less energy than that.
std::optional<Attempt> other_that_fits(const CompileRequest& request, Time& time, Attempt& made,
                                       std::optional<Attempt> known) {
  for (SynchronousPlan& plan : made.others) {
    if (known && known->report.energy <= plan.energy) break;
    Attempt other;
    other.outcome = made.outcome;
    use_synchronous(request.instance, std::move(plan), other);
    verify_plan(request, other);
    find_addresses(request, time, other, false);
    if (other.over <= Bytes(0)) return other;
    if (time.finish()()) break;
  }
  return known;
}

constexpr double kLeftForAddresses = 1;  // s, at most

/// It is proven to the gap that is asked for, or a better one that is not saves no more than that or, where
/// time is short, hardly anything of the energy.
bool is_good_enough(const CompileRequest& request, const Attempt& other, const Attempt& made,
                    const Bounds& bounds, const Stop& limit) {
  const double baseline = replay_keep_all(request.instance, request.semantics).energy.value();
  const double gap = request.options.gap;
  const auto open = [&](const Attempt& attempt, double bound) {
    return overhead_gap(attempt.report.energy.value(), bound, baseline) > gap;
  };
  constexpr double kHardlyMore = 1.02;
  const double bound = bounds.every_plan.value();
  const bool hurries = limit.remaining() < kLeftForAddresses;
  if (hurries && other.report.energy <= kHardlyMore * made.report.energy) return true;
  return !open(other, bound) || (open(made, bound) && !open(other, made.report.energy.value()));
}

/// Of the time, a little is left for addresses.
Stop for_search(const CompileRequest& request, const Stop& limit) {
  constexpr double kPart = 0.1;
  const double left = limit.remaining();
  const bool finds_room = request.addresses && request.semantics == Semantics::device &&
                          !is_large(request.instance.graph.ops.size());
  return finds_room ? limit.at_most(left - std::min(kPart * left, kLeftForAddresses)) : limit;
}

}  // namespace

Fit fit(const CompileRequest& request, Time& time) {
  Fit fit{{}, ReserveSearch(request.limits.ram_budget)};
  Attempt& made = fit.attempt;
  std::optional<Bounds> bounds;
  long nodes = 0;
  std::optional<Bytes> over;
  std::optional<PlacedPlan> placed;
  std::optional<Attempt> other;  // of more energy than an attempt, but its addresses fit
  Bytes reserve_of_other{}, reserve_of_placed{};
  bool enough = false;
  Stop search = for_search(request, time.limit());
  do {
    fit.reserve = fit.reserves.reserve();
    made = solve_and_lower(request, fit.reserve, search);
    if (!made.plan.steps.empty() && request.addresses) find_addresses(request, time, made);
    if (!bounds) bounds = made.outcome.certificate.bounds;
    if (made.placed && !placed) {
      placed = std::exchange(made.placed, std::nullopt);
      reserve_of_placed = fit.reserve;
    }
    if (made.over > Bytes(0) && !other) {
      other = other_that_fits(request, time, made, roomy(request, fit.reserve, time, made));
      reserve_of_other = fit.reserve;
      enough = other && is_good_enough(request, *other, made, *bounds, time.limit());
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

}  // namespace poet
