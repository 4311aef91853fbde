#pragma once

// Deadlines that a share of the steps meets although times vary.

#include "poet/compile.h"

namespace poet {

/// Implements compile() for a request with `on_time`. Returns the first plan found of whose simulated steps
/// (plan/timing/variation.h) at least that share meets the deadline. If the plan of least energy does not,
/// searches again: with transfer times at their 95th percentile and op times at that of steps, then with
/// deadlines earlier by the delay of the best plan at that share; at most 5 searches within the time limit.
/// Bounds are the first search's and hold for every plan that meets the deadline. Without such a plan the
/// status is `unknown`, and the explanation has the largest share found and the least deadline that the
/// wanted share of a known plan's steps meets. Throws InputError for a share outside (0, 1), a missing
/// deadline, other semantics than device, Solver::file, and an instance that does not say how times vary.
[[nodiscard]] CompileResult compile_on_time(const CompileRequest& request);

}  // namespace poet
