#pragma once

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// Returns the canonical plan that carries out `schedule`: POET's Algorithm 2, made exact. Page-outs and
/// page-ins of a stage are issued at its start; in published semantics transfers take no time and page-ins
/// are issued at the end of the stage, as that semantics counts RAM. Redundant page-ins are omitted: those of
/// values in RAM, and those that the next stage does not retain. So the plan may cost less and occupy less
/// than the schedule, never more, except for the energy to wake up a channel that now has time to fall
/// asleep. `schedule` must obey the rules of staged schedules, which the verifier checks. O(stages * values).
[[nodiscard]] Plan linearise(const Instance& instance, const Schedule& schedule, Semantics semantics);

}  // namespace poet
