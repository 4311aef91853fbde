#pragma once

// Conclusions from one point of a sweep to others: a plan that is feasible under some limits is feasible
// under looser ones, and a bound under some limits holds under tighter ones. So more RAM or time never shows
// a worse result.

#include <vector>

#include "poet/study/sweep_result.h"

namespace poet {

/// Gives each point the best plan of points of the same instance, semantics and method with equal or tighter
/// limits (its note names them), and the highest bound of those with equal or looser limits; then updates
/// overhead and gap. For methods that prove bounds only; not for points with `split` "auto", whose graphs
/// depend on the RAM. O(points^2) per method.
void carry_between_limits(const std::vector<SweepResult*>& results);

}  // namespace poet
