#pragma once

// One thing about an op changed, as a hand or a bug may leave it in a file.

#include <random>
#include <string>

#include "poet/graph/graph.h"

namespace poet::test {

/// Changes the last op of a graph that lone_op() has made, or one of its operands: a dimension, a rank, a
/// type, strides, bytes, which operands there are, an attribute, the kind. Says what.
std::string mutate_op(Graph& alone, std::mt19937_64& random);

}  // namespace poet::test
