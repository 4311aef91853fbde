#pragma once

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// The transfer planner (POET, section 5.5), for device semantics: the same computations in the same order,
/// the same transfers, at better moments. A page-out leaves as soon as its value is complete and the channel
/// has time for it, and its RAM is free as soon as it has ended and nobody reads it any more. A page-in
/// starts as late as it can and still arrive in time; where two would need the channel at once, the one
/// wanted first goes first and is moved earlier, as far as RAM allows; likewise where that saves compute a
/// wait. Otherwise compute waits for it, which the verifier charges. Where transfers block compute, they are
/// as close to their uses as can be.
///
/// Never worse: what it returns needs no more energy and time than `plan`, no more RAM than the larger of the
/// budget and what `plan` needs, and keeps the deadline if `plan` does. `plan` must be one that the verifier
/// accepts but for the limits; one with page-ins in vain comes back as it is, and so does any outside device
/// semantics. At most 8 rounds, no further one once `stop` says so; O(rounds * (steps + transfers *
/// (transfers + moved slots))).
[[nodiscard]] Plan plan_transfers(const Instance& instance, const Plan& plan, Semantics semantics,
                                  const Limits& limits, const Stop& stop = {});

}  // namespace poet
