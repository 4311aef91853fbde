#pragma once

// The order of the parts of an op in a graph. Private to split.

#include <vector>

#include "poet/split/cells.h"
#include "poet/split/loops.h"

namespace poet::splitting {

/// Per op, the gradients of parameters that it reads last; their parts are computed between those of the op.
using FollowingGradients = IdVector<OpId, std::vector<OpId>>;
[[nodiscard]] FollowingGradients following_gradients(const Graph& graph);

/// Returns best_nest() of the op's loops, including the traffic of the gradients that follow it.
[[nodiscard]] Nest nest_of(const Cutting& cutting, const FollowingGradients& gradients, OpId id,
                           const std::vector<Loop>& loops, Bytes ram);

}  // namespace poet::splitting
