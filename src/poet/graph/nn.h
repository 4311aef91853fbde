#pragma once

// The forward operators of docs/operators.md, one function each, which adds an op to a GraphBuilder and
// returns its results: it checks the operands, infers the shapes of the results, and creates the parameters
// of the operator with the names of PyTorch ("layer1.0.conv1.weight" for the op "layer1.0.conv1"). Throws
// InputError naming the op if shapes or element types do not fit the operator or a size overflows; the
// builder can then only be destroyed. Each is O(rank).

#include "poet/graph/nn/elementwise.h"  // IWYU pragma: export
#include "poet/graph/nn/gather.h"       // IWYU pragma: export
#include "poet/graph/nn/layout.h"       // IWYU pragma: export
#include "poet/graph/nn/losses.h"       // IWYU pragma: export
#include "poet/graph/nn/norms.h"        // IWYU pragma: export
#include "poet/graph/nn/opaque.h"       // IWYU pragma: export
#include "poet/graph/nn/products.h"     // IWYU pragma: export
#include "poet/graph/nn/recurrent.h"    // IWYU pragma: export
#include "poet/graph/nn/reductions.h"   // IWYU pragma: export
#include "poet/graph/nn/resize.h"       // IWYU pragma: export
#include "poet/graph/nn/windows.h"      // IWYU pragma: export
