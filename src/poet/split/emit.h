#pragma once

// The ops and values of the parts. Private to split.

#include <vector>

#include "poet/graph/graph.h"
#include "poet/split/partition.h"

namespace poet::splitting {

struct Emitted {
  Graph graph;
  std::vector<char> copies;  // per op: whether it puts together what the next ones read
};

/// The graph in parts: ops in the order of the whole ones, producers and promises not yet checked. `ram`: for
/// the order of an op's parts.
[[nodiscard]] Emitted emit_parts(const Graph& graph, const Partition& partition, Bytes ram);

}  // namespace poet::splitting
