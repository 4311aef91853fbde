#pragma once

// Not in pose.h, so that pipeline links no solver: programs for boards pose problems without solving them.

#include <utility>

#include "poet/optimize/outcome.h"
#include "poet/pipeline/spec.h"

namespace poet {

/// Returns `effort` with the mechanisms that the policy allows.
[[nodiscard]] inline SolveOptions solve_options(const Policy& policy, SolveOptions effort) {
  effort.paging = policy.paging;
  effort.rematerialization = policy.rematerialization;
  return effort;
}

}  // namespace poet
