#pragma once

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// What a plan keeps, recomputes and pages, told by stages: stage t is what happens after the first
/// computation of op t-1 up to that of op t. A page-in belongs to the stage before, as the paper has it. It
/// is for people to read: where a stage brings a value twice, or recomputes in another order than that of the
/// ops, no staged schedule says the same. `plan` needs neither waits nor frees. O(steps + edges + size of the
/// answer).
[[nodiscard]] Schedule stages_of(const Instance& instance, const Plan& plan);

}  // namespace poet
