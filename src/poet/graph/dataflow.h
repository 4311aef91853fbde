#pragma once

// What scheduling needs to know of a graph: per op the distinct transient values it reads and writes (views
// resolved to their storage, persistent values left out: they are always in RAM), and who uses a value.

#include <vector>

#include "poet/graph/graph.h"

namespace poet {

struct Dataflow {
  IdVector<OpId, std::vector<ValueId>> reads;   // distinct, increasing
  IdVector<OpId, std::vector<ValueId>> writes;  // distinct, increasing
  IdVector<ValueId, std::vector<OpId>> users;   // distinct, increasing; empty for persistent values and views
  IdVector<ValueId, OpId> producer;             // of the storage; invalid for persistent values and views
  IdVector<OpId, OpId> last_recompute;  // op may be recomputed in stage t only if t <= this: later stages
                                        // start after an update of a persistent value that it reads;
                                        // not recomputable: the op itself
  std::vector<ValueId> transients;      // values that a schedule decides about, increasing
};

/// O(ops + values + edges). `graph` must be verified.
[[nodiscard]] Dataflow dataflow(const Graph& graph);

}  // namespace poet
