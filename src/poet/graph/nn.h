#pragma once

// The forward operators of docs/operators.md, one function each, which adds an op to a GraphBuilder and
// returns what the op writes: each infers the shapes of what it writes, checks what it reads, and creates the
// parameters that the operator needs, named as PyTorch names them ("layer1.0.conv1.weight" for the op
// "layer1.0.conv1"). Throws InputError naming the op when shapes or element types do not fit the operator or
// a size overflows; a builder on which one has thrown is good for nothing but destruction. Each is O(rank).

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
