#pragma once

// The order of the ops of a graph in parts. Private to split.

#include <cstddef>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::splitting {

/// In which order ops, which are in one in which they can run, come best: such that little has to wait in
/// RAM.
/// - What is done element by element (or channel by channel) comes as soon as its operands are there.
/// - Gradients of parameters come as late as they can: when the last op that needs the old parameter has run,
///   or their own operands are there, whichever is later. Their update follows at once.
/// - Ops marked in `copies` stay in front of what they are for.
/// `graph`: the values. O(edges + ops log ops).
[[nodiscard]] std::vector<std::size_t> order_of(const Graph& graph, const std::vector<Op>& ops,
                                                const std::vector<char>& copies);

}  // namespace poet::splitting
