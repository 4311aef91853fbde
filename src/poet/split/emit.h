#pragma once

// The ops and values of the parts. Private to split.

#include "poet/graph/graph.h"
#include "poet/split/partition.h"

namespace poet::splitting {

/// The graph in parts: ops in the order of the whole ones, producers and promises not yet checked.
[[nodiscard]] Graph emit_parts(const Graph& graph, const Partition& partition);

}  // namespace poet::splitting
