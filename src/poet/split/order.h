#pragma once

// The order of the ops of a graph in parts. Private to split.

#include <vector>

#include "poet/graph/graph.h"

namespace poet::splitting {

/// `ops`, which are in an order in which they can run, such that little has to wait in RAM:
/// - What is done element by element (or channel by channel) comes as soon as its operands are there.
/// - Gradients of parameters come as late as they can: when the last op that needs the old parameter has run,
///   or their own operands, whichever is later. Their update follows at once.
/// O(edges + ops log ops).
[[nodiscard]] std::vector<Op> ordered(const Graph& graph, std::vector<Op> ops);

}  // namespace poet::splitting
