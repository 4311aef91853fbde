#pragma once

#include "poet/graph/graph.h"

namespace poet {

/// The forward pass of a training step up to its loss, in evaluation mode: without dropout, and with batch
/// normalisation by the running statistics, which are not updated.
struct EvaluationPart {
  Graph graph;
  // Where each op and value comes from, in the training graph. The ops and values that stand for a batch
  // normalisation come from it and its output; of a view, from what it is a view of there.
  IdVector<OpId, OpId> ops;
  IdVector<ValueId, ValueId> values;
};

/// Returns the evaluation part. Persistent values keep their names, shapes and homes. Throws InputError
/// naming the op if a batch normalisation has no running statistics. O(ops + values + edges).
[[nodiscard]] EvaluationPart evaluation_part(const Graph& training);

}  // namespace poet
