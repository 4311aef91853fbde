#pragma once

#include "poet/graph/graph.h"

namespace poet {

/// Returns the forward graph from which differentiate() made the training graph: its forward ops with the
/// running statistics, and their values. Verified. O(ops + values).
[[nodiscard]] Graph forward_part(const Graph& training);

}  // namespace poet
