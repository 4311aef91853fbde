#pragma once

// Nodes that hand a tensor on, or state one. Private to poet/frontend/onnx.

#include <string_view>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// Whether nodes of that operator only give input 0 another shape.
[[nodiscard]] bool is_reshaping(std::string_view op_type);
/// Whether the node is a Cast to float16, bfloat16, float32 or float64, which are one type here.
[[nodiscard]] bool is_real_cast(const Node& node);
/// Whether the node only shows input 0 in another shape, order of axes or type.
[[nodiscard]] bool is_view(const Node& node);

/// The tensor that a Constant or ConstantOfShape node states as its `value`; null where there is none.
[[nodiscard]] const Tensor* stated_value(const Node& node);

}  // namespace poet::onnx
