// The addresses of a variant's plans: placed, and repaired where they do not fit.

#include <algorithm>
#include <utility>

#include "poet/compile/refit_with_reserve.h"
#include "poet/compile/sources/variant_search.h"
#include "poet/plan/allowance.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/timing/timeline.h"
#include "poet/verify/replay.h"

namespace poet {
namespace {

/// The effort of placing one plan, in nominal seconds. The search finds many: the best one that does not fit
/// is placed again.
constexpr double kInQuickSteps = 0.005;
constexpr double kDuringSearch = 0.05;
constexpr double kAtTheEnd = 5;
constexpr int kOutsideDevice = 20;  // the paper's semantics has no addresses

Layout placed(const Variant& variant, const CompileRequest& request, const Plan& plan, double effort,
              const Stop& stop) {
  const Instance& instance = *variant.judged;
  const Report report = replay(instance, plan, request.semantics, request.limits);
  PlaceOptions options;
  options.enough = report.peak_ram - instance.costs.persistent;  // the liveness lower bound
  options.stop = stop;
  const Bytes room = transient_budget(instance.costs, request.limits);
  if (request.semantics != Semantics::device) {
    options.effort /= kOutsideDevice;
    return place(instance, plan, request.semantics, options);
  }
  if (effort == kAtTheEnd)
    options.room = room;
  else
    options.enough = std::max(options.enough, room);
  options.effort = static_cast<std::int64_t>(effort / kAtTheEnd * static_cast<double>(options.effort));
  return place(instance, plan, request.semantics, options);
}

}  // namespace

// A first plan is worth a moment after the limit.
Stop VariantSearch::end_of_step() const { return ledger_->has_plan() ? clock_.limit() : clock_.finish(); }

void VariantSearch::fit(Proposal proposal) {
  if (!request_.addresses) {
    ledger_->offer(variant_, std::move(proposal));
    return;
  }
  const Instance& instance = *variant_.judged;
  proposal.layout =
      placed(variant_, request_, proposal.plan, is_quick() ? kInQuickSteps : kDuringSearch, end_of_step());
  const Bytes over = instance.costs.persistent + proposal.layout->arena - request_.limits.ram_budget;
  if (request_.semantics != Semantics::device || over <= Bytes(0)) {
    fitting_joules_ = std::min(fitting_joules_, proposal.energy.value());
    ledger_->offer(variant_, std::move(proposal));
    return;
  }
  ledger_->note_over(variant_, over);
  if (unfit_.empty() || proposal.energy < unfit_.front().energy) {
    over_ = over;
    placed_with_ = kDuringSearch;
  }
  const auto place = std::ranges::upper_bound(unfit_, proposal.energy, {}, &Proposal::energy);
  unfit_.insert(place, std::move(proposal));
  constexpr std::size_t kMost = 6;
  if (unfit_.size() > kMost) unfit_.pop_back();
  if (!ledger_->has_plan()) repair();
}

// Places the best plan that does not fit with twice the effort, as long as all that is a small part of the
// search's.
void VariantSearch::place_again() {
  constexpr double kPart = 0.2;
  if (unfit_.empty() || !ledger_->is_notable(unfit_.front().energy.value())) return;
  const double effort = 2 * placed_with_;
  if (effort > kAtTheEnd / 2 || spent_on_placing_ + effort > kPart * spent_) return;
  placed_with_ = effort;
  spent_on_placing_ += effort;
  spent_ += effort;
  Proposal& best = unfit_.front();
  best.layout = placed(variant_, request_, best.plan, effort, end_of_step());
  const Bytes before = over_;
  over_ = variant_.judged->costs.persistent + best.layout->arena - request_.limits.ram_budget;
  if (2 * over_ < before) repaired_at_ = kInfinity;  // much less has to be freed
  if (over_ > Bytes(0)) return;
  fitting_joules_ = std::min(fitting_joules_, best.energy.value());
  ledger_->offer(variant_, std::move(best));
  unfit_.clear();  // the others need more energy
}

bool VariantSearch::wants_addresses() const {
  if (ended_ || unfit_.empty()) return false;
  const double joules = unfit_.front().energy.value();
  return ledger_->is_notable(joules) && !is_repaired(joules);
}

// Repairs the decisions of the best plan that does not fit so that the addresses do. Takes a while, so only
// if it would save something, and not again for plans that are hardly better.
void VariantSearch::repair() {
  if (!wants_addresses()) return;
  repaired_at_ = unfit_.front().energy.value();
  repair(unfit_.front().decided, end_of_step());
  if (!ledger_->has_plan() && !unfit_.front().decided.recompute.empty()) repair({}, end_of_step());
}

void VariantSearch::repair(const Decisions& decided, const Stop& stop) {
  if (!scratch_ || !variant_.form->regime.reworks_plans) return;
  std::optional<PlacedPlan> made = refit_with_reserve(*variant_.judged, request_.limits, request_.options,
                                                      decided, variant_.reserve + over_, stop);
  if (!made || !replay(*variant_.judged, made->plan, request_.semantics, request_.limits).valid) return;
  fitting_joules_ = std::min(fitting_joules_, made->energy.value());
  if (made->energy.value() >= ledger_->joules()) return;
  ledger_->offer(variant_, {std::move(made->plan), made->energy, {}, {}, true, std::move(made->layout)});
}

void VariantSearch::finish() {
  const std::vector<Proposal> unfit = std::exchange(unfit_, {});
  const auto is_better = [&](const Proposal& plan) { return plan.energy.value() < ledger_->joules(); };
  if (unfit.empty() || !is_better(unfit.front())) return;
  Proposal best = unfit.front();
  best.layout = placed(variant_, request_, best.plan, kAtTheEnd, clock_.finish());
  over_ = variant_.judged->costs.persistent + best.layout->arena - request_.limits.ram_budget;
  if (over_ <= Bytes(0)) {
    ledger_->offer(variant_, std::move(best));
    return;
  }
  ledger_->note_over(variant_, over_);
  for (const Proposal& plan : unfit)
    if (is_better(plan) && !clock_.finish()()) repair(plan.decided, clock_.finish());
}

}  // namespace poet
