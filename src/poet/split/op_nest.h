#pragma once

// In which order the parts of an op of a graph come. Private to split.

#include <vector>

#include "poet/split/cells.h"
#include "poet/split/loops.h"

namespace poet::splitting {

/// Per op the gradients of parameters that it is the last to read: their parts are computed as it goes on.
using FollowingGradients = IdVector<OpId, std::vector<OpId>>;
[[nodiscard]] FollowingGradients following_gradients(const Graph& graph);

/// best_nest() of the op's loops, with what the gradients that follow it read and write.
[[nodiscard]] Nest nest_of(const Cutting& cutting, const FollowingGradients& gradients, OpId id,
                           const std::vector<Loop>& loops, Bytes ram);

}  // namespace poet::splitting
