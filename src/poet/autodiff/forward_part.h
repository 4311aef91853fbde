#pragma once

#include "poet/graph/graph.h"

namespace poet {

/// What differentiate() made the training graph of: its forward ops with the running statistics, and the
/// values that these name. Verified. O(ops + values).
[[nodiscard]] Graph forward_part(const Graph& training);

}  // namespace poet
