#pragma once

// The order of the ops of a graph in parts. Private to split.

#include <cstddef>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::splitting {

/// Returns an order for ops, which are in topological order, that keeps few values alive.
/// - Elementwise and channelwise ops run as soon as their operands exist.
/// - Gradients of parameters run as late as possible: after the last op that needs the old parameter, or once
///   their own operands exist, whichever is later. Their update follows immediately.
/// - Of the ops marked in `copies`, slices of what the same pass computes run as soon as it exists; the
///   others stay directly before their first users.
/// `graph` has the values. O(edges + ops log ops).
[[nodiscard]] std::vector<std::size_t> order_of(const Graph& graph, const std::vector<Op>& ops,
                                                const std::vector<char>& copies);

}  // namespace poet::splitting
