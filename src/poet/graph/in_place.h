#pragma once

// Operators that may write their result over an operand.

#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// Returns the positions in op.inputs over which the op's first output may be written: inputs with its shape,
/// strides and element type and no other operand that views the same storage differently, if the operator
/// reads each element (or row, for softmax) before it writes it (OperatorSchema::in_place). The caller must
/// check that the operand is not used later. O(inputs).
[[nodiscard]] std::vector<std::size_t> overwritable_inputs(const Graph& graph, const Op& op);

}  // namespace poet
