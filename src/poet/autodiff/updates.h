#pragma once

// The end of a parameter's gradient: the optimiser's update op and where it goes.

#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/graph/graph.h"

namespace poet {

struct TrainedParameter {
  ValueId parameter;
  ValueId gradient;  // complete: the sum of all contributions
};

/// `ops` with one update per trained parameter, each right after the last op that reads the parameter or
/// writes its gradient: the earliest place where it is correct, so that the gradient dies as early as it can.
/// Updates after the same op come in the order of `trained`. The optimiser's state values are appended to
/// `graph.values`; `graph.ops` is not looked at. O(ops + values + edges).
[[nodiscard]] std::vector<Op> with_updates(Graph& graph, const std::vector<Op>& ops,
                                           const std::vector<TrainedParameter>& trained,
                                           const TrainingOptions& options);

}  // namespace poet
