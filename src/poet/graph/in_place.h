#pragma once

// Which operators may write their result over an operand.

#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// Positions in op.inputs over which the op's first output may be written, element by element, by an operator
/// that reads an element (or a row, for softmax) before it writes it: the same shape, strides and element
/// type, no other operand that sees the same storage in another way, and an operator of that sort
/// (OperatorSchema::in_place). That the operand is dead by then is the caller's business. O(inputs).
[[nodiscard]] std::vector<std::size_t> overwritable_inputs(const Graph& graph, const Op& op);

}  // namespace poet
