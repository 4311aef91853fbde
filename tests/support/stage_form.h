#pragma once

#include <optional>

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule.h"

namespace poet::test {

/// The plan's decisions as a schedule in stages, if it has that form: within a stage ops go in index order,
/// each at most once. Transfers move to the stage in which the stage form would have them. What comes out may
/// need more RAM than the plan: the referee says whether it is a schedule within the limits.
[[nodiscard]] std::optional<Schedule> stage_form(const Instance& instance, const Plan& plan);

}  // namespace poet::test
