#pragma once

// What files spell as several nodes and the graph has as one op. Private to poet/frontend/onnx.

#include <optional>
#include <string>
#include <utility>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Lowering;

/// Whether `a` is `b` as a file may have rounded it.
[[nodiscard]] bool about(double a, double b);

/// For Mul and Div with a known number: the other operand's position and the factor that it is multiplied by.
/// Nothing when the number is divided by the operand.
[[nodiscard]] std::optional<std::pair<std::size_t, double>> factor_of(const Lowering& net, const Node& node);

/// The node that multiplies `node`'s result, of `rank` dimensions, as its only reader by a known factor.
[[nodiscard]] std::optional<std::pair<const Node*, double>> following_factor(const Lowering& net,
                                                                             const Node& node,
                                                                             std::size_t rank);

/// The only reader of `node`'s result, when it is an `op_type` of two inputs that also reads a weight, and
/// that one's position.
[[nodiscard]] std::optional<std::pair<const Node*, std::size_t>> following_weight(const Lowering& net,
                                                                                  const Node& node,
                                                                                  const std::string& op_type);

/// The Add that is the only reader of `node`'s result and adds a weight of `size` numbers along the last
/// axis, and the weight's position.
[[nodiscard]] std::optional<std::pair<const Node*, std::size_t>> following_bias(const Lowering& net,
                                                                                const Node& node,
                                                                                std::int64_t size);

/// Whether `node`'s result goes, possibly transposed, to a matrix product only.
[[nodiscard]] bool feeds_product_only(const Lowering& net, const Node& node);

/// x/2 (1 + erf(x / sqrt 2)) in its usual spellings, of which `node` reads x at `position`: adds the gelu,
/// skips all its nodes and says true.
[[nodiscard]] bool became_gelu(Lowering& net, const Node& node, std::size_t position);

/// (x - mean) / sqrt(var + eps) * weight + bias over the last axis, as exporters write it before opset 17, of
/// which `node` is the first mean: adds the layer norm, skips all its nodes and says true.
[[nodiscard]] bool became_layer_norm(Lowering& net, const Node& node);

/// A group normalisation of x (N, C, ...), of which `node` is the Reshape to (N, groups, ...) before an
/// InstanceNormalization without scale and shift; then come a Reshape to x's shape, a factor and a summand
/// per channel. Adds the group norm, skips all its nodes and says true.
[[nodiscard]] bool became_group_norm(Lowering& net, const Node& node, const Shape& reshaped);

}  // namespace poet::onnx
