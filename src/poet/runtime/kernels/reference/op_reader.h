#pragma once

// What a factory of kernels reads of an op. It points into the graph and lives only while kernels are made:
// a kernel copies what it needs.

#include "poet/graph/graph.h"
#include "poet/graph/operators/op_reader.h"
#include "poet/graph/strides.h"

namespace poet::runtime {

using operators::Index;
using operators::OpReader;

}  // namespace poet::runtime
