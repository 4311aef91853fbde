#pragma once

// Checkpointing by segments, as in Chen et al.: checkpoints stay, the rest of a segment is recomputed at once
// when the backward pass comes to it.

#include <vector>

#include "poet/baselines/method.h"
#include "poet/graph/dataflow.h"

namespace poet {

/// The plan for given checkpoints (forward ops, increasing). In the forward pass a value is kept up to its
/// last forward use; results of checkpoints up to their last use; in the backward pass the segment that it
/// is in is kept whole, from the first backward op that reads it, for which it is recomputed. The last
/// segment that holds anything, which comes next anyway, is kept from the forward pass if at most one
/// checkpoint follows it. Backward ops are never recomputed. O(stages * (ops + edges)).
[[nodiscard]] Plan plan_of_checkpoints(const MethodRequest& request, const Dataflow& flow,
                                       const std::vector<OpId>& checkpoints);

}  // namespace poet
