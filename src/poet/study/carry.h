#pragma once

// What one point of a sweep says about others: a plan within some limits is one within looser ones, and a
// bound under some limits is one under tighter ones. So more RAM or time never shows a worse answer or bound.

#include <vector>

#include "poet/study/sweep_result.h"

namespace poet {

/// Between points of the same instance, semantics and method, for methods that prove bounds: each takes the
/// best plan of points whose limits are as tight or tighter (its note says of which), and the highest bound
/// of points whose limits are as loose or looser; then its overhead and gap anew. Not
/// between points whose graphs have other parts for other RAM (`split` "auto"). O(points^2) per method.
void carry_between_limits(const std::vector<SweepResult*>& results);

}  // namespace poet
