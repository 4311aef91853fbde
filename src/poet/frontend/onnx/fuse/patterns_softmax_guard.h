#pragma once

// What PyTorch 2 writes behind the softmax of an attention. Private to poet/frontend/onnx.

#include "poet/frontend/onnx/lower/lowering.h"

namespace poet::onnx {

/// Whether the IsNaN begins Where(IsNaN(p), 0, p) of a softmax p, for rows that a mask leaves nothing of, and
/// no mask can: then that is p. O(nodes between the products and the softmax).
[[nodiscard]] bool became_softmax(Lowering& net, const Node& node);

}  // namespace poet::onnx
