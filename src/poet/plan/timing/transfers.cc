#include "poet/plan/timing/transfers.h"

#include <algorithm>

#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/timing/shift_transfers.h"
#include "poet/plan/timing/slot_plan.h"
#include "poet/plan/timing/timeline.h"

namespace poet {

Plan plan_transfers(const Instance& instance, const Plan& plan, Semantics semantics, const Limits& limits,
                    const Stop& stop) {
  if (semantics != Semantics::device) return plan;
  constexpr int kRounds = 4;
  Plan best = plan;
  Timeline line = timeline_of(instance, plan);
  const std::int64_t capacity = std::max(transient_budget(instance.costs, limits), line.peak).value();
  const TransferShifter planner(instance, capacity);
  // First to where compute stands as it is; then, for what it waits for, to where it could: only for a gain.
  for (const bool without_stalls : {false, true}) {
    if (without_stalls && (line.stalled == 0 || stop())) break;
    for (int round = 0; round < kRounds; ++round) {
      bool shifted = false;
      for (const bool page_outs : {true, false}) {
        SlotPlan slotted = slot_plan_of(instance, best, line, capacity);
        if (!slotted.exact) return canonicalize(instance, best, Semantics::device);
        Slots slots = slots_of(best, line);
        planner.page_in_just_in_time(slotted, slots, without_stalls);
        if (page_outs) planner.page_out_at_once(slotted, slots);
        keep_order(slotted);
        Plan proposed = plan_of(slotted);
        Timeline timed = timeline_of(instance, proposed);
        const bool takes = timed.peak.value() <= capacity && no_worse(instance, timed, line) &&
                           (!without_stalls || !no_worse(instance, line, timed));
        if (!takes || proposed.steps == best.steps) continue;
        best = std::move(proposed);
        line = std::move(timed);
        shifted = true;
        break;
      }
      if (!shifted || stop()) break;
    }
  }
  return canonicalize(instance, best, Semantics::device);
}

}  // namespace poet
