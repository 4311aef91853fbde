#pragma once

// What exporters compute shapes with, evaluated while importing: the nodes themselves vanish.

#include <optional>
#include <vector>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// Integers of rank 1.
[[nodiscard]] Tensor integer_list(const std::vector<std::int64_t>& elements);

/// The shape that two shapes broadcast to by ONNX's rule. Throws InputError when they do not.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b);

/// An axis counted from the front. Throws InputError when it is outside of [-rank, rank).
[[nodiscard]] std::size_t checked_axis(std::int64_t axis, std::size_t rank);

/// `shape` with axes of size 1 inserted at `axes` (of the result), or taken out. An empty list takes out all
/// of size 1. Throw InputError.
[[nodiscard]] Shape unsqueezed(const Shape& shape, const std::vector<std::int64_t>& axes);
[[nodiscard]] Shape squeezed(const Shape& shape, const std::vector<std::int64_t>& axes);

/// What ONNX's Reshape makes of `shape`: 0 keeps a dimension (unless `allow_zero`), one -1 takes what is
/// left. The product is that of `shape` only if `target` says so. Throws InputError.
[[nodiscard]] Shape reshape_target(const Shape& shape, const std::vector<std::int64_t>& target,
                                   bool allow_zero);

/// First, last (exclusive) and step per axis, as ONNX's Slice means them.
struct Range {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};
/// The ranges of all axes after clamping; steps may be negative. Throws InputError.
[[nodiscard]] std::vector<Range> slice_ranges(const Shape& shape, const std::vector<std::int64_t>& starts,
                                              const std::vector<std::int64_t>& ends,
                                              const std::vector<std::int64_t>& axes,
                                              const std::vector<std::int64_t>& steps);
[[nodiscard]] std::int64_t range_length(const Range& range);

using Operands = std::vector<const Tensor*>;  // null: left out, or computed at run time

/// The result of `node` when it is one of the operators evaluated here and every input is known; nothing
/// otherwise. Only first outputs. Throws InputError when the inputs break the operator's rules. O(elements).
[[nodiscard]] std::optional<Tensor> evaluate(const Node& node, const Operands& inputs, std::int64_t opset);

/// Whether evaluate() has a rule for it.
[[nodiscard]] bool is_evaluated(const std::string& op_type);

// Attributes of a node, with the default where they are absent. Throw InputError when they have another type.
[[nodiscard]] std::int64_t integer(const Node& node, const std::string& attribute, std::int64_t otherwise);
[[nodiscard]] double real(const Node& node, const std::string& attribute, double otherwise);
[[nodiscard]] std::string text(const Node& node, const std::string& attribute, const std::string& otherwise);
[[nodiscard]] std::vector<std::int64_t> integers(const Node& node, const std::string& attribute,
                                                 const std::vector<std::int64_t>& otherwise = {});

}  // namespace poet::onnx
