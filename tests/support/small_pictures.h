#pragma once

// Pictures of plans small enough to check by hand.

#include <string>
#include <utility>

#include "poet/plan/layout/layout.h"
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

inline Picture picture_of_schedule(const Instance& instance, const Schedule& schedule, Limits limits,
                                   std::string title, Semantics semantics = Semantics::device) {
  return picture_of_plan(instance, linearise(instance, schedule, semantics), limits, std::move(title),
                         semantics);
}

}  // namespace poet::test
