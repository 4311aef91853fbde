#pragma once

// What exporters compute shapes with, evaluated while importing: the nodes themselves vanish.

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

/// The result of `node` when it is one of the operators evaluated here and every input is known; nothing
/// otherwise. Only first outputs. Throws InputError when the inputs break the operator's rules. O(elements).
[[nodiscard]] std::optional<Tensor> evaluate(const Node& node, const Operands& inputs, std::int64_t opset);

/// Whether evaluate() has a rule for it.
[[nodiscard]] bool is_evaluated(const std::string& op_type);

}  // namespace poet::onnx
