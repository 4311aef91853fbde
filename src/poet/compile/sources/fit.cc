// The addresses of a variant's plans: placed, and repaired where they do not fit.

#include <algorithm>
#include <utility>

#include "poet/compile/refit_with_reserve.h"
#include "poet/compile/sources/variant_search.h"
#include "poet/optimize/large.h"
#include "poet/plan/allowance.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/timing/timeline.h"
#include "poet/verify/replay.h"

namespace poet {
namespace {

/// How much of the usual effort goes into placing one plan. The search finds many, and places the best one
/// again at its end.
constexpr int kDuringSearch = 10;
constexpr int kOutsideDevice = 20;  // the paper's semantics has no addresses

Layout placed(const Variant& variant, const CompileRequest& request, const Plan& plan, bool all_effort,
              const Stop& stop) {
  const Instance& instance = *variant.judged;
  const Report report = replay(instance, plan, request.semantics, request.limits);
  PlaceOptions options;
  options.enough = report.peak_ram - instance.costs.persistent;  // the liveness lower bound
  options.stop = stop;
  if (request.semantics != Semantics::device)
    options.effort /= kOutsideDevice;
  else if (all_effort)
    options.room = transient_budget(instance.costs, request.limits);
  else
    options.effort /= kDuringSearch;
  return place(instance, plan, request.semantics, options);
}

}  // namespace

void VariantSearch::fit(Proposal proposal) {
  if (!request_.addresses) {
    ledger_.offer(variant_, std::move(proposal));
    return;
  }
  const Instance& instance = *variant_.judged;
  proposal.layout = placed(variant_, request_, proposal.plan, false, clock_.finish());
  const Bytes over = instance.costs.persistent + proposal.layout->arena - request_.limits.ram_budget;
  if (request_.semantics != Semantics::device || over <= Bytes(0)) {
    ledger_.offer(variant_, std::move(proposal));
    return;
  }
  ledger_.note_over(over);
  if (unfit_ && unfit_->energy <= proposal.energy) return;
  over_ = over;
  unfit_ = std::move(proposal);
  repair();
}

// Repairs the decisions of the plan that does not fit so that the addresses do. Takes a while, so only if it
// would save something, and not again for plans that are hardly better.
void VariantSearch::repair() {
  constexpr double kHardlyBetter = 0.995;
  if (!scratch_ || is_large(variant_.judged->graph.ops.size())) return;
  const double joules = unfit_->energy.value();
  if (!ledger_.is_notable(joules) || joules > kHardlyBetter * repaired_at_) return;
  repaired_at_ = joules;
  const Stop stop = clock_.finish();
  const auto offer = [&](const Decisions& decided) {
    std::optional<PlacedPlan> made = refit_with_reserve(*variant_.judged, request_.limits, request_.options,
                                                        decided, variant_.reserve + over_, stop);
    if (!made || !replay(*variant_.judged, made->plan, request_.semantics, request_.limits).valid) return;
    if (made->energy.value() >= ledger_.joules()) return;
    ledger_.offer(variant_, {std::move(made->plan), made->energy, {}, {}, true, std::move(made->layout)});
  };
  offer(unfit_->decided);
  if (!ledger_.has_plan() && !unfit_->decided.recompute.empty()) offer({});
}

void VariantSearch::finish() {
  if (!unfit_ || unfit_->energy.value() >= ledger_.joules()) return;
  Proposal proposal = std::move(*unfit_);
  unfit_.reset();
  proposal.layout = placed(variant_, request_, proposal.plan, true, clock_.finish());
  const Bytes over = variant_.judged->costs.persistent + proposal.layout->arena - request_.limits.ram_budget;
  if (over <= Bytes(0))
    ledger_.offer(variant_, std::move(proposal));
  else
    ledger_.note_over(over);
}

}  // namespace poet
