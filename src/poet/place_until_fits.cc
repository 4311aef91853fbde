#include "poet/place_until_fits.h"

#include <algorithm>
#include <utility>

#include "poet/plan/allowance.h"
#include "poet/plan/layout/addresses.h"
#include "poet/plan/schedule/stages_of.h"
#include "poet/refit_with_reserve.h"

namespace poet {
namespace {

constexpr double kLeftForAddresses = 2;  // s, at most

/// Replaces the attempt's plan, whose addresses do not fit.
void use_placed(const CompileRequest& request, PlacedPlan placed, Attempt& made) {
  made.plan = std::move(placed.plan);
  made.layout = std::move(placed.layout);
  made.outcome.schedule = has_paged(request.instance) ? Schedule{} : stages_of(request.instance, made.plan);
  made.synchronous = true;
  made.over = request.instance.costs.persistent + made.layout.arena - request.limits.ram_budget;
  verify_plan(request, made);
}

/// Returns an attempt whose plan is `placed`.
Attempt with_placed(const CompileRequest& request, const Outcome& outcome, PlacedPlan placed) {
  Attempt other;
  other.outcome = outcome;
  use_placed(request, std::move(placed), other);
  return other;
}

/// Returns whether placing may take several attempts, and then costlier plans.
bool may_place_again(const CompileRequest& request) {
  return request.addresses && request.semantics == Semantics::device &&
         !is_large(request.instance.graph.ops.size());
}

/// Assigns addresses; with less effort if the plan is not the best one.
void find_addresses(const CompileRequest& request, TimeBudget& time, Attempt& made, bool best = true) {
  constexpr int kLessEffort = 10;
  const Instance& instance = request.instance;
  const bool device = request.semantics == Semantics::device;
  PlaceOptions options;
  options.enough = made.report.peak_ram - instance.costs.persistent;  // the liveness lower bound
  options.stop = time.finish();
  constexpr double kMoment = 3;
  constexpr double kPartForBest = 0.4;  // the rest is for plans that need less RAM
  // Large graphs: `placed` is there at once, another search takes long.
  const bool has_other = made.placed && is_large(instance.graph.ops.size());
  if (has_other) options.stop = options.stop.at_most(kMoment);
  if (may_place_again(request)) options.stop = options.stop.at_most(kPartForBest * options.stop.remaining());
  if (device && !has_other && best) options.room = transient_budget(instance.costs, request.limits);
  if (!best) options.effort /= kLessEffort;
  if (!device) options.effort /= 20;  // the paper's semantics has no addresses
  made.layout = place(instance, made.plan, request.semantics, options);
  if (device) made.over = instance.costs.persistent + made.layout.arena - request.limits.ram_budget;
  if (made.over > Bytes(0) && has_other) use_placed(request, *made.placed, made);
}

/// Repairs the best plans so that their addresses fit; returns the cheapest. Runs within the address time, or
/// briefly after it.
std::optional<Attempt> repair_addresses(const CompileRequest& request, Bytes reserve, TimeBudget& time,
                                        const Attempt& made) {
  constexpr double kMoment = 0.4;
  if (!may_place_again(request) || !searches_synchronous(request)) return std::nullopt;
  const Stop moment = time.limit().at_most(kLeftForAddresses).at_least(kMoment);
  std::optional<PlacedPlan> best;
  const auto consider = [&](const Decisions& decided) {
    if (moment()) return;
    std::optional<PlacedPlan> placed = refit_with_reserve(request, decided, reserve + made.over, moment);
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

/// Returns the cheapest of the other plans whose addresses fit, if it is cheaper than `known`.
std::optional<Attempt> other_that_fits(const CompileRequest& request, TimeBudget& time, Attempt& made,
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

/// Returns whether a plan that fits, `other`, ends the search: it is within the requested gap of the bound,
/// or of the cheapest plan, `made`, which does not fit and is not proven itself. With little time left, 2%
/// more energy than `made` is enough, too.
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

/// Leaves a little of the time for addresses.
Stop for_search(const CompileRequest& request, const Stop& limit) {
  constexpr double kPart = 0.25;
  const double left = limit.remaining();
  return may_place_again(request) ? limit.at_most(left - std::min(kPart * left, kLeftForAddresses)) : limit;
}

/// The loop of place_until_fits(): solve with a reserve, place, and try costlier plans.
class FittingSearch {
 public:
  FittingSearch(const CompileRequest& request, TimeBudget& time)
      : request_(request),
        time_(time),
        search_(for_search(request, time.limit())),
        fitted_{{}, ReserveSearch(request.limits.ram_budget)} {
    options_ = request.options;
    options_.on_progress =
        map_progress(request.options.on_progress, [this](Progress& progress) { of_whole_budget(progress); });
  }
  FittingSearch(const FittingSearch&) = delete;  // the options refer to it
  FittingSearch& operator=(const FittingSearch&) = delete;

  FittedAttempt run() {
    while (solve_and_place()) {
    }
    Attempt& made = fitted_.attempt;
    if (other_ && (!fitted_.fits() || other_->report.energy < made.report.energy)) {
      made = std::move(*other_);
      fitted_.reserve = reserve_of_other_;
    }
    made.outcome.nodes = nodes_;
    made.outcome.timed_out = timed_out_ || time_.limit().expired();
    made.outcome.certificate.bounds = first_->bounds;
    made.outcome.certificate.note = first_->note;
    return std::move(fitted_);
  }

 private:
  /// One attempt. Returns whether there is to be another one.
  bool solve_and_place() {
    Attempt& made = fitted_.attempt;
    fitted_.reserve = fitted_.reserves.reserve();
    made = solve_once(request_, options_, fitted_.reserve, search_);
    if (made.has_plan() && request_.addresses) find_addresses(request_, time_, made);
    if (!first_) first_ = made.outcome.certificate;
    if (made.placed && (!fitted_.fits() || made.placed->energy < made.report.energy))
      offer(with_placed(request_, made.outcome, std::move(*made.placed)));
    const bool enough = made.over > Bytes(0) && try_costlier_plans();
    search_ = time_.finish();
    nodes_ += made.outcome.nodes;
    timed_out_ = timed_out_ || made.outcome.timed_out;
    const auto over = made.has_plan() ? std::optional(made.over) : std::nullopt;
    return fitted_.reserves.next(over) && !enough && !search_() && request_.options.solver != Solver::file;
  }

  /// The best plan's addresses do not fit. Returns whether the plan that does is good enough.
  bool try_costlier_plans() {
    Attempt& made = fitted_.attempt;
    if (!repaired_) {
      repaired_ = offer(repair_addresses(request_, fitted_.reserve, time_, made));
      repaired_ = offer(other_that_fits(request_, time_, made, other_)) || repaired_;
    }
    return other_ && is_good_enough(request_, *other_, made, first_->bounds, time_.limit());
  }

  /// Keeps the cheapest attempt whose addresses fit. Returns whether there was one.
  bool offer(std::optional<Attempt> one) {
    if (!one || (other_ && other_->report.energy <= one->report.energy)) return one.has_value();
    other_ = std::move(one);
    reserve_of_other_ = fitted_.reserve;
    return true;
  }

  void of_whole_budget(Progress& progress) const {
    if (request_.semantics != Semantics::device) progress.plan_joules = progress.incumbent_joules;
    if (other_) progress.plan_joules = other_->report.energy.value();
    if (!first_) return;
    progress.phase = "room for addresses, " + progress.phase;
    progress.bound_joules = first_->bounds.every_plan.value();  // bounds with a reserve hold for it alone
    progress.staged_bound_joules.reset();
  }

  const CompileRequest& request_;
  TimeBudget& time_;
  SolveOptions options_;
  Stop search_;
  FittedAttempt fitted_;
  std::optional<Certificate> first_;  // the first attempt's, with the whole budget
  std::optional<Attempt> other_;      // the cheapest other plan whose addresses fit
  Bytes reserve_of_other_{};
  bool repaired_ = false;  // a costlier plan was made to fit
  long nodes_ = 0;
  bool timed_out_ = false;
};

}  // namespace

FittedAttempt place_until_fits(const CompileRequest& request, TimeBudget& time) {
  return FittingSearch(request, time).run();
}

}  // namespace poet
