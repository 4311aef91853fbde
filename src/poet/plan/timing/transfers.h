#pragma once

// The transfer planner (POET, section 5.5).

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// Returns the same computations in the same order, with the same transfers at better moments. A page-out
/// leaves as soon as its value is complete and the channel has time for it; its RAM is free as soon as it has
/// ended and nobody reads the value any more. A page-in starts as late as it can and still arrive in time. If
/// two would need the channel at once, the one wanted first goes first and is moved earlier, as far as RAM
/// allows; likewise if that saves compute a wait. Otherwise compute waits for it, which the verifier charges.
/// If transfers block compute, they are as close to their uses as can be.
///
/// `plan` must be one that the verifier accepts but for the limits. The result is never worse: it needs no
/// more energy and time than `plan`, no more RAM than the larger of the budget and what `plan` needs, and
/// keeps the deadline if `plan` does. Returns `plan` itself outside device semantics, and if it has page-ins
/// in vain. Makes at most 8 rounds, and no further one once `stop` says so; O(rounds * (steps + transfers *
/// (transfers + moved slots))).
[[nodiscard]] Plan plan_transfers(const Instance& instance, const Plan& plan, Semantics semantics,
                                  const Limits& limits, const Stop& stop = {});

}  // namespace poet
