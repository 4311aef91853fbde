#pragma once

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// The same computations and transfers, with room for transfers that take longer than their medians: page-ins
/// stand early enough for a time at the 95th percentile or beyond it, and RAM that a page-out frees is given
/// back that much later, both as far as RAM allows. Of several such plans the one whose simulated steps
/// (variation.h) take least time in the mean.
///
/// Never worse than `plan`, a canonical one that the verifier accepts: at the median it needs no more energy
/// and time, in the mean of the simulated steps no more time and no more waiting, and no more RAM than the
/// larger of the budget and what `plan` needs. `plan` itself where that cannot be had, where the instance
/// does not say how times vary, and where transfers block compute. Device semantics. At most 6 plans are
/// tried, none further once `stop` says so; each takes what a round of plan_transfers() does and a simulation
/// of some hundred steps.
[[nodiscard]] Plan with_slack(const Instance& instance, const Plan& plan, const Limits& limits,
                              const Stop& stop = {});

}  // namespace poet
