#pragma once

#include <optional>

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule.h"

namespace poet::test {

/// Whether the plan's computations have the stage form: between two first computations every op at most once
/// and in index order. The optimiser's bound is for these.
[[nodiscard]] inline bool has_stage_form(const Instance& instance, const Plan& plan) {
  OpId next{0};
  OpId last;  // computed in this stage
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::compute) continue;
    if (last.valid() && step.op <= last) return false;
    last = step.op;
    if (step.op != next) continue;
    next = OpId(next.index + 1);
    last = OpId();
  }
  return !instance.graph.ops.contains(next);
}

/// The plan's decisions as a schedule in stages, if it has that form: within a stage ops go in index order,
/// each at most once. Transfers move to the stage in which the stage form would have them. What comes out may
/// need more RAM than the plan: the referee says whether it is a schedule within the limits.
[[nodiscard]] std::optional<Schedule> stage_form(const Instance& instance, const Plan& plan);

}  // namespace poet::test
