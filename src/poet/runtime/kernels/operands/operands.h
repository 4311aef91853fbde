#pragma once

// Whether an op's operands and attributes are what its operator takes. A graph read from a file may hold
// anything; kernels compute addresses from shapes, strides and attributes and believe them.

#include "poet/graph/graph.h"

namespace poet::runtime {

/// Throws InputError naming op and rule unless inputs, outputs, updates and attributes fit the operator
/// (docs/operators.md): how many there are, their element types, shapes and strides, the attributes' types
/// and ranges, and every value within its storage. After that no kernel reaches beyond its operands, whatever
/// they contain; kernels refuse integers that name no element by themselves. Kinds that no kernel computes
/// pass, as far as their values go. `graph` is verified. O(operands, their axes, and numbers in attributes).
void check_operands(const Graph& graph, OpId op);

}  // namespace poet::runtime
