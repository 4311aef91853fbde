#pragma once

// Nodes whose results are known while importing. Private to poet/frontend/onnx.

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Lowering;

/// Sets the node's result and says true where it is known: a shape, or arithmetic on what is known. Weights
/// that might train are not, and keep their names. Throws InputError when the inputs break the operator's
/// rules.
[[nodiscard]] bool was_evaluated(Lowering& net, const Node& node);

}  // namespace poet::onnx
