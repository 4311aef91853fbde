#pragma once

#include <optional>

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet::test {

/// Whether a staged schedule does in published or, without transfers, in any semantics what the plan
/// does: between two first computations every op at most once and in index order, transfers before all of
/// them, and two first computations at least between a page-out and its page-in. The optimiser's bound is for
/// such plans.
[[nodiscard]] inline bool is_staged(const Instance& instance, const Plan& plan) {
  OpId next{0};
  OpId last;  // computed in this stage
  IdVector<ValueId, OpId> left(instance.graph.values.size());
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::page_out || step.kind == StepKind::page_in) {
      if (last.valid()) return false;
      if (step.kind == StepKind::page_out)
        left[step.value] = next;
      else if (next.index < left[step.value].index + 2)
        return false;
    }
    if (step.kind != StepKind::compute) continue;
    if (last.valid() && step.op <= last) return false;
    last = step.op;
    if (step.op != next) continue;
    next = OpId(next.index + 1);
    last = OpId();
  }
  return !instance.graph.ops.contains(next);
}

/// The plan's decisions as a staged schedule, if there is one: within a stage ops go in index order,
/// each at most once. Transfers move to the stage in which a staged schedule would have them. What comes out
/// may need more RAM than the plan: the verifier says whether it is a schedule within the limits.
[[nodiscard]] std::optional<Schedule> staged_schedule(const Instance& instance, const Plan& plan);

}  // namespace poet::test
