#include "poet/fit.h"

#include <algorithm>
#include <utility>

#include "poet/plan/allowance.h"
#include "poet/plan/layout/addresses.h"
#include "poet/plan/schedule/stages_of.h"
#include "poet/roomy.h"

namespace poet {
namespace {

constexpr double kLeftForAddresses = 2;  // s, at most

/// In place of the plan whose addresses do not fit.
void use_placed(const CompileRequest& request, PlacedPlan placed, Attempt& made) {
  made.plan = std::move(placed.plan);
  made.layout = std::move(placed.layout);
  made.outcome.schedule = has_paged(request.instance) ? Schedule{} : stages_of(request.instance, made.plan);
  made.synchronous = true;
  made.over = request.instance.costs.persistent + made.layout.arena - request.limits.ram_budget;
  verify_plan(request, made);
}

/// With a plan whose addresses fit.
Attempt with_placed(const CompileRequest& request, const Outcome& outcome, PlacedPlan placed) {
  Attempt other;
  other.outcome = outcome;
  use_placed(request, std::move(placed), other);
  return other;
}

/// Whether there may be several rounds of it, and then other plans.
bool looks_for_room(const CompileRequest& request) {
  return request.addresses && request.semantics == Semantics::device &&
         !is_large(request.instance.graph.ops.size());
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
  constexpr double kPartForBest = 0.4;  // the rest is for plans of less RAM
  // A search with less RAM takes long there.
  const bool has_other = made.placed && is_large(instance.graph.ops.size());
  if (has_other) options.stop = options.stop.at_most(kMoment);
  if (looks_for_room(request)) options.stop = options.stop.at_most(kPartForBest * options.stop.remaining());
  if (device && !has_other && best) options.room = transient_budget(instance.costs, request.limits);
  if (!best) options.effort /= kLessEffort;
  if (!device) options.effort /= 20;  // the paper's semantics has no addresses
  made.layout = place(instance, made.plan, request.semantics, options);
  if (device) made.over = instance.costs.persistent + made.layout.arena - request.limits.ram_budget;
  if (made.over > Bytes(0) && has_other) use_placed(request, *made.placed, made);
}

/// The cheapest of the best plans but for their addresses, with RAM in reserve for these, and of what greedy
/// makes of such RAM. Within the time left for addresses; where it is up, in a moment more.
std::optional<Attempt> roomy(const CompileRequest& request, Bytes reserve, Time& time, const Attempt& made) {
  constexpr double kMoment = 0.4;
  if (!looks_for_room(request) || !searches_synchronous(request)) return std::nullopt;
  const Stop moment = time.limit().at_most(kLeftForAddresses).at_least(kMoment);
  std::optional<PlacedPlan> best;
  const auto consider = [&](const Decisions& decided) {
    if (moment()) return;
    std::optional<PlacedPlan> placed = roomy_plan(request, decided, reserve + made.over, moment);
    if (!placed || (best && best->energy <= placed->energy)) return;
    if (replay(request.instance, placed->plan, request.semantics, request.limits).valid)
      best = std::move(placed);
  };
  consider(made.decided);
  for (const SynchronousPlan& plan : made.others)
    if (!best || plan.energy < best->energy) consider(plan.decided);
  if (!best) consider({});
  if (!best) return std::nullopt;
  return with_placed(request, made.outcome, std::move(*best));
}

/// The first of the other plans whose addresses fit, if it needs less energy than what is known.
std::optional<Attempt> other_that_fits(const CompileRequest& request, Time& time, Attempt& made,
                                       const std::optional<Attempt>& known) {
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
  return std::nullopt;
}

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
  constexpr double kPart = 0.25;
  const double left = limit.remaining();
  return looks_for_room(request) ? limit.at_most(left - std::min(kPart * left, kLeftForAddresses)) : limit;
}

}  // namespace

Fit fit(const CompileRequest& request, Time& time) {
  Fit fit{{}, ReserveSearch(request.limits.ram_budget)};
  Attempt& made = fit.attempt;
  std::optional<Bounds> bounds;
  long nodes = 0;
  std::optional<Bytes> over;
  std::optional<Attempt> other;  // the best whose addresses fit
  Bytes reserve_of_other{};
  const auto offer = [&](std::optional<Attempt> one) {
    if (!one || (other && other->report.energy <= one->report.energy)) return one.has_value();
    other = std::move(one);
    reserve_of_other = fit.reserve;
    return true;
  };
  SolveOptions options = request.options;
  options.on_progress = changed(request.options.on_progress, [&](Progress& progress) {
    if (request.semantics != Semantics::device) progress.plan_joules = progress.incumbent_joules;
    if (other) progress.plan_joules = other->report.energy.value();
    if (!bounds) return;
    progress.phase = "room for addresses, " + progress.phase;  // with less RAM, of which bounds are no others
    progress.bound_joules = bounds->every_plan.value();
    progress.staged_bound_joules.reset();
  });
  bool fits = false;  // another plan than the best, which was made to
  bool enough = false;
  Stop search = for_search(request, time.limit());
  do {
    const bool first = !bounds;
    fit.reserve = fit.reserves.reserve();
    made = solve_and_lower(request, options, fit.reserve, search);
    if (!made.plan.steps.empty() && request.addresses) find_addresses(request, time, made);
    if (first) bounds = made.outcome.certificate.bounds;
    if (made.placed && (!fit.found() || made.placed->energy < made.report.energy))
      offer(with_placed(request, made.outcome, std::move(*made.placed)));
    if (made.over > Bytes(0)) {
      const bool looks = !fits;
      if (looks) fits = offer(roomy(request, fit.reserve, time, made));
      if (looks) fits = offer(other_that_fits(request, time, made, other)) || fits;
      enough = other && is_good_enough(request, *other, made, *bounds, time.limit());
    }
    search = time.finish();
    nodes += made.outcome.nodes;
    over = made.plan.steps.empty() ? std::nullopt : std::optional(made.over);
  } while (fit.reserves.next(over) && !enough && !search() && request.options.solver != Solver::file);
  if (other && (!fit.found() || other->report.energy < made.report.energy)) {
    made = std::move(*other);
    fit.reserve = reserve_of_other;
  }
  made.outcome.nodes = nodes;
  made.outcome.certificate.bounds = *bounds;
  return fit;
}

}  // namespace poet
