#pragma once

// Between a parameter's gradient and its update: the mean over several steps, and clipping by the norm of
// all.

#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/autodiff/updates.h"
#include "poet/graph/graph.h"

namespace poet {

/// `ops` with what `options` has done to the gradients, and `trained` with those that the updates read. A
/// gradient is added to its sum, a value that stays from step to step, and measured right after it is
/// complete; it is scaled once all are measured, at the end. New values are appended to `graph.values`;
/// `graph.ops` is not looked at. O(ops + values + edges).
[[nodiscard]] std::vector<Op> with_prepared_gradients(Graph& graph, const std::vector<Op>& ops,
                                                      std::vector<TrainedParameter>& trained,
                                                      const TrainingOptions& options);

}  // namespace poet
