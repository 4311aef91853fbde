#pragma once

// Apart from pose.h, so that the room links no solver: a board's program poses problems and solves none.

#include <utility>

#include "poet/optimize/outcome.h"
#include "poet/pipeline/spec.h"

namespace poet {

/// `effort` with the mechanisms that the policy allows.
[[nodiscard]] inline SolveOptions solve_options(const Policy& policy, SolveOptions effort) {
  effort.paging = policy.paging;
  effort.rematerialization = policy.rematerialization;
  return effort;
}

}  // namespace poet
