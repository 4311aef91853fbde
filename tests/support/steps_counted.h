#pragma once

#include <map>
#include <utility>

#include "poet/plan/plan.h"

namespace poet::test {

/// How often each op and value has each kind of step but waits: what shifting transfers leaves as it is.
inline std::map<std::pair<int, int>, int> steps_counted(const Plan& plan) {
  std::map<std::pair<int, int>, int> count;
  for (const Step& step : plan.steps)
    if (step.kind != StepKind::wait)
      ++count[{static_cast<int>(step.kind),
               step.kind == StepKind::compute ? step.op.index : step.value.index}];
  return count;
}

}  // namespace poet::test
