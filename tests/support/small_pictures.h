#pragma once

// Pictures of plans small enough to check by hand.

#include <string>
#include <utility>

#include "poet/plan/layout/layout.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/report/picture.h"
#include "tests/support/tiny_instance.h"

namespace poet::test {

inline Picture picture_of_plan(Instance instance, Plan plan, Limits limits, std::string title,
                               Semantics semantics = Semantics::device) {
  PlanFile file;
  file.instance = std::move(instance);
  file.semantics = semantics;
  file.limits = limits;
  file.plan = std::move(plan);
  file.layout = place(file.instance, file.plan, semantics);
  return picture_of(std::move(file), std::move(title));
}

/// weight_at_home(): loaded from 0 s to 1 s, then three ops of a second each, home from 4 s to 5 s; 40 B
/// while b is computed.
inline Picture picture_at_home(std::int64_t ram = 40) {
  const ValueId w(0);
  const auto compute = [](int op) { return Step{StepKind::compute, OpId(op), ValueId()}; };
  const auto other = [](StepKind kind, int v) { return Step{kind, OpId(), ValueId(v)}; };
  Plan plan;
  plan.steps = {other(StepKind::page_in, 0),
                other(StepKind::wait, 0),
                compute(0),
                compute(1),
                other(StepKind::free, 1),
                compute(2),
                other(StepKind::page_out, 0),
                other(StepKind::wait, 0),
                other(StepKind::free, 0)};
  Limits limits;
  limits.ram_budget = Bytes(ram);
  return picture_of_plan(weight_at_home(), plan, limits, "home.plan");
}

inline Picture picture_of_schedule(const Instance& instance, const Schedule& schedule, Limits limits,
                                   std::string title, Semantics semantics = Semantics::device) {
  return picture_of_plan(instance, linearise(instance, schedule, semantics), limits, std::move(title),
                         semantics);
}

}  // namespace poet::test
