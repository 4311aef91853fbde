#include "poet/optimize/search/planned_transfers.h"

#include <utility>

#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/transfers.h"

namespace poet {

void PlannedTransfers::consider(const Candidate& candidate) {
  const auto& [instance, limits, semantics] = request_;
  PlannedSchedule made{to_schedule(problem_, instance, candidate), {}, {}};
  made.plan =
      plan_transfers(instance, linearise(instance, made.schedule, semantics), semantics, limits, stop_);
  made.energy = energy_of(instance, made.plan, timeline_of(instance, made.plan));
  if (!best_ || made.energy < best_->energy) best_ = std::move(made);
}

}  // namespace poet
