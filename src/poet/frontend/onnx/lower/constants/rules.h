#pragma once

// One rule per operator evaluated while importing. Private to constants: evaluate() counts the inputs and
// sees to it that all of them are known. Throw InputError when the inputs break the operator's rules.

#include <cstdint>
#include <string>

#include "poet/frontend/onnx/lower/constants/elements.h"

namespace poet::onnx::constants {

/// a `op` b for an operator of two integers, by its ONNX name. Throws InputError on overflow.
[[nodiscard]] std::int64_t combine(const std::string& op, std::int64_t a, std::int64_t b);

// arithmetic.cc
[[nodiscard]] Tensor binary(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor unary(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor cast(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor clip(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor where(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor product(const Node& node, const Operands& inputs, std::int64_t opset);

// layout.cc
[[nodiscard]] Tensor reshape(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor squeeze(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor unsqueeze(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor gather(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor slice(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor concat(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor transpose(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor expand(const Node& node, const Operands& inputs, std::int64_t opset);

// positions.cc
[[nodiscard]] Tensor trilu(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor cumsum(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor tile(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor gather_elements(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor gather_nd(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor scatter_elements(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor scatter_nd(const Node& node, const Operands& inputs, std::int64_t opset);

// makers.cc
[[nodiscard]] Tensor constant(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor constant_of_shape(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor range(const Node& node, const Operands& inputs, std::int64_t opset);
[[nodiscard]] Tensor identity(const Node& node, const Operands& inputs, std::int64_t opset);

}  // namespace poet::onnx::constants
