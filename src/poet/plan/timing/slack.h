#pragma once

// Slack: room in a plan for transfers that take longer than their medians.

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// Returns a plan of the same computations and transfers with slack. Page-ins are early enough for a time at
/// the 95th percentile or beyond it, and RAM that a page-out frees is given back that much later, both as far
/// as RAM allows. Of several such plans, returns the one whose simulated steps (variation.h) take least time
/// in the mean.
///
/// `plan` must be canonical and accepted by the verifier. The result is never worse: at the median it needs
/// no more energy and time, in the mean of the simulated steps no more time and no more waiting, and no more
/// RAM than the larger of the budget and what `plan` needs. Returns `plan` itself if there is no such plan,
/// if the instance does not say how times vary, or if transfers block compute. Device semantics. Tries at
/// most 6 plans, and no further one once `stop` says so; each takes as long as a round of plan_transfers()
/// and a simulation of some hundred steps.
[[nodiscard]] Plan with_slack(const Instance& instance, const Plan& plan, const Limits& limits,
                              const Stop& stop = {});

}  // namespace poet
