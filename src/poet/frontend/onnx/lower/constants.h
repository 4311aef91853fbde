#pragma once

// Constant folding of the nodes by which exporters compute shapes.

#include <optional>
#include <vector>

#include "poet/frontend/onnx/lower/constants/attributes.h"
#include "poet/frontend/onnx/lower/constants/shape_rules.h"
#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// Integers of rank 1.
[[nodiscard]] Tensor integer_list(const std::vector<std::int64_t>& elements);

/// A filled tensor with its contents, unless those are too many to hold.
[[nodiscard]] Tensor with_contents(const Tensor& filled);

using Operands = std::vector<const Tensor*>;  // null: left out, or computed at run time

/// Returns the first output of `node` if it is one of the operators evaluated here and all its inputs are
/// known; else nullopt. Throws InputError if the inputs violate the operator's rules. O(elements).
[[nodiscard]] std::optional<Tensor> evaluate(const Node& node, const Operands& inputs, std::int64_t opset);

/// Returns whether evaluate() has a rule for it.
[[nodiscard]] bool is_evaluated(const std::string& op_type);

}  // namespace poet::onnx
