#pragma once

// The shape rules of ONNX operators.

#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::onnx {

/// Formats a shape for messages: (1, 3, 224, 224).
[[nodiscard]] std::string shown(const Shape& shape);

/// Returns the shape to which two shapes broadcast by ONNX's rule. Throws InputError if they do not.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b);

/// Returns an axis counted from the front. Throws InputError if it is outside [-rank, rank).
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

}  // namespace poet::onnx
