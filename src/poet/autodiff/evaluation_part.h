#pragma once

#include "poet/graph/graph.h"

namespace poet {

/// What a training step computes up to its loss, as a trained network is used: nothing is dropped out, and
/// batch normalisation goes by the running statistics, which stay as they are.
struct EvaluationPart {
  Graph graph;
  // Where each op and value comes from, in the training graph. The ops and values that stand for a batch
  // normalisation come from it and its output; of a view, from what it is a view of there.
  IdVector<OpId, OpId> ops;
  IdVector<ValueId, ValueId> values;
};

/// Persistent values keep their names, shapes and homes. Throws InputError naming the op where a batch
/// normalisation has no running statistics. O(ops + values + edges).
[[nodiscard]] EvaluationPart evaluation_part(const Graph& training);

}  // namespace poet
