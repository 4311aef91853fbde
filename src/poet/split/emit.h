#pragma once

// The ops and values of the parts. Private to split.

#include <vector>

#include "poet/graph/graph.h"
#include "poet/split/partition.h"

namespace poet::splitting {

struct Emitted {
  Graph graph;
  std::vector<char> copies;  // per op: whether it assembles an operand of the next ones
};

/// Returns the graph in parts: ops in the order of the original ones, not yet verified. `ram` determines the
/// order of an op's parts.
[[nodiscard]] Emitted emit_parts(const Graph& graph, const Partition& partition, Bytes ram);

}  // namespace poet::splitting
