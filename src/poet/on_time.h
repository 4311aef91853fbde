#pragma once

// A deadline that a share of the steps keeps although times vary.

#include "poet/compile.h"

namespace poet {

/// compile() of a request with `on_time`: the first plan that is found of whose simulated steps
/// (plan/timing/variation.h) at least that share ends by the deadline. Where the plan of least energy does
/// not, others are sought: one with transfers at their 95th percentile and ops at that of steps, then with
/// earlier deadlines, by as much as that share of the best plan's steps is late; up to 5 searches in all
/// within the time limit. Bounds are the first search's: they hold for every plan that meets the deadline.
/// Without such a plan `unknown`; the explanation then has the largest share that was found and the least
/// deadline that a plan which was found keeps in the share wanted. Throws InputError for a share outside (0,
/// 1), without a deadline, outside device semantics, for Solver::file, and where the instance does not say
/// how times vary.
[[nodiscard]] CompileResult compile_on_time(const CompileRequest& request);

}  // namespace poet
