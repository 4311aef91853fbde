#pragma once

// What PyTorch 2 writes behind the softmax of an attention. Private to poet/frontend/onnx.

#include "poet/frontend/onnx/lower/lowering.h"

namespace poet::onnx {

/// Whether the Softmax begins Where(IsNaN(p), 0, p) of its result p, for rows that a mask leaves nothing of.
/// That is p where no mask can, and otherwise a softmax of finite numbers and a selection. O(nodes between
/// the products and the softmax).
[[nodiscard]] bool became_guarded_softmax(Lowering& net, const Node& node);

}  // namespace poet::onnx
