#pragma once

#include "poet/plan/plan.h"

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

}  // namespace poet::test
