#pragma once

#include "poet/baselines/method.h"

namespace poet {

/// Keeps every value up to its last use, recomputes and pages nothing: what frameworks do by default, and the
/// reference point of every figure. One plan. O(ops + edges).
[[nodiscard]] MethodAnswer checkpoint_all(const MethodRequest& request);

}  // namespace poet
