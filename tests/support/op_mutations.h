#pragma once

// One thing about an op changed, as a hand or a bug may leave it in a file.

#include <random>
#include <string>

#include "poet/graph/graph.h"

namespace poet::test {

/// Changes an op or one of its operands: a dimension, a rank, a type, strides, bytes, which operands there
/// are, an attribute, what it updates, the kind. Says what.
std::string mutate_op(Graph& graph, OpId op, std::mt19937_64& random);

}  // namespace poet::test
