#pragma once

// Nodes whose results are known during import. Private to poet/frontend/onnx.

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Lowering;

/// Sets the node's result and returns true if it is known: a shape, or arithmetic on known values. Weights
/// that may be trained are not known, and keep their names. Throws InputError if the inputs violate the
/// operator's rules.
[[nodiscard]] bool was_evaluated(Lowering& net, const Node& node);

}  // namespace poet::onnx
