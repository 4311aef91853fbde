#pragma once

// Activations that files spell as several nodes and the graph has as one op. Each looks at the nodes that
// follow `node`; when they make up the activation, it adds the op, skips all its nodes and says true. Private
// to poet/frontend/onnx.

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Lowering;

/// Sigmoid(x) x, of which `node` is the Sigmoid.
[[nodiscard]] bool became_silu(Lowering& net, const Node& node);

/// x Tanh(Softplus(x)), of which `node` is the Softplus.
[[nodiscard]] bool became_mish(Lowering& net, const Node& node);

/// HardSigmoid(x) x with slope 1/6 and offset 1/2, of which `node` is the HardSigmoid.
[[nodiscard]] bool became_hard_swish(Lowering& net, const Node& node);

/// Relu(x) clipped from above, of which `node` is the Relu: one clip.
[[nodiscard]] bool became_clip(Lowering& net, const Node& node);

/// Clip(x + 3, 0, 6) / 6, a hard sigmoid, with or without a factor x, a hard swish; in any order of the
/// factors; the lower bound may be a Relu. `node` is the Add, which reads x at `position` and adds `number`.
[[nodiscard]] bool became_hard_activation(Lowering& net, const Node& node, std::size_t position,
                                          double number);

}  // namespace poet::onnx
