#include "poet/optimize/search/planned_transfers.h"

#include <utility>

#include "poet/optimize/problem/loads.h"
#include "poet/optimize/search/streamed_plan.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/transfers.h"

namespace poet {

void PlannedTransfers::consider(const Candidate& candidate) {
  const auto& [instance, limits, semantics, loads_of] = request_;
  PlannedSchedule made{to_schedule(problem_, instance, candidate), {}, {}};
  made.plan =
      plan_transfers(instance, linearise(instance, made.schedule, semantics), semantics, limits, stop_);
  made.energy = loads_of != nullptr ? energy_without_loads(*loads_of, made.plan, stop_)
                                    : energy_of(instance, made.plan, timeline_of(instance, made.plan));
  if (!best_ || made.energy < best_->energy) best_ = std::move(made);
}

}  // namespace poet
