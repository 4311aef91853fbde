#pragma once

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// Returns a plan in staged form: stage t holds the steps after the first computation of op t-1 up to that of
/// op t; a page-in belongs to the stage before, as in the paper. For display: if a stage pages a value in
/// twice, or recomputes in another order than that of the ops, no staged schedule is equivalent. `plan` needs
/// neither waits nor frees. O(steps + edges + size of the result).
[[nodiscard]] Schedule stages_of(const Instance& instance, const Plan& plan);

}  // namespace poet
