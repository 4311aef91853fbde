#pragma once

// Plans of methods without paging.

#include <vector>

#include "poet/baselines/method.h"

namespace poet {

/// Returns the plan that computes `order`, first computations and repetitions, and keeps each result from its
/// computation to its last use before the next one. The order must make every operand available. O(ops in
/// order + edges).
[[nodiscard]] Plan plan_of_order(const MethodRequest& request, const std::vector<OpId>& order);

}  // namespace poet
