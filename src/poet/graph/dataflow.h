#pragma once

// What scheduling needs to know of a graph: per op the distinct values it reads and writes (views resolved to
// their storage, resident persistent values left out: they are always in RAM), and who uses a value.

#include <vector>

#include "poet/graph/graph.h"

namespace poet {

struct Dataflow {
  IdVector<OpId, std::vector<ValueId>> reads;    // distinct, increasing
  IdVector<OpId, std::vector<ValueId>> writes;   // distinct, increasing
  IdVector<OpId, std::vector<ValueId>> changes;  // paged values that it updates in place; it reads them, too
  IdVector<ValueId, std::vector<OpId>> users;    // distinct, increasing; empty for resident values and views
  IdVector<ValueId, OpId> producer;              // of the storage; invalid for persistent values and views
  IdVector<OpId, OpId> last_recompute;  // op may be recomputed in stage t only if t <= this: later stages
                                        // start after an update of a persistent value that it reads;
                                        // not recomputable: the op itself
  std::vector<ValueId> transients;  // values that a schedule decides about, increasing; none is persistent
  std::vector<ValueId> paged;       // persistent values at home on storage, increasing

  /// Whether a plan may move the value and give its RAM back.
  [[nodiscard]] bool movable(ValueId v) const { return producer[v].valid() || is_paged[v]; }
  IdVector<ValueId, char> is_paged;
};

/// O(ops + values + edges). `graph` must be verified.
[[nodiscard]] Dataflow dataflow(const Graph& graph);

}  // namespace poet
