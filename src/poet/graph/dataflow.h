#pragma once

// The data flow that scheduling needs: the distinct values that each op reads and writes (views resolved to
// their storage; without resident persistent values, which are always in RAM), and the users of each value.

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

  /// Returns whether a plan may page the value and free its RAM.
  [[nodiscard]] bool movable(ValueId v) const { return producer[v].valid() || is_paged[v]; }
  IdVector<ValueId, char> is_paged;
};

/// Returns the data flow of a verified graph. O(ops + values + edges).
[[nodiscard]] Dataflow dataflow(const Graph& graph);

}  // namespace poet
