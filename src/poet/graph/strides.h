#pragma once

// Views: the layout of a tensor in its storage. A view shows every element of its storage exactly once, in
// another shape or another order of axes (no slices, no broadcasts), so a gradient of a view is the same view
// of a gradient.

#include <string>
#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// A shape and the distance between neighbours along each axis, in elements. No strides: row-major. The
/// functions below give row-major layouts without strides (axes of size 1 do not count), so equal layouts
/// compare equal.
struct StridedShape {
  Shape shape;
  Shape strides;

  bool operator==(const StridedShape&) const = default;
};

[[nodiscard]] StridedShape strided_shape(const Value& value);

/// Returns the strides of a row-major tensor. Throws InputError unless every dimension is positive and their
/// product does not overflow.
[[nodiscard]] Shape row_major_strides(const Shape& shape);

/// Returns the explicit strides of a value.
[[nodiscard]] inline Shape strides_of(const Value& value) {
  return value.strides.empty() ? row_major_strides(value.shape) : value.strides;
}

/// Returns the layout of the same elements in the same order with another shape. Throws InputError unless
/// `from` is row-major and has as many elements as `shape`.
[[nodiscard]] StridedShape reshaped(const StridedShape& from, const Shape& shape);

/// Axis i of the result is axis `axes[i]` of `from`. Throws InputError unless `axes` is a permutation.
[[nodiscard]] StridedShape permuted(const StridedShape& from, const std::vector<std::int64_t>& axes);

/// A tensor of this shape whose axes lie in storage in the order `axes`, slowest first: permuted(result,
/// axes) is row-major. Throws InputError unless `axes` is a permutation.
[[nodiscard]] StridedShape stored_in_order(const Shape& shape, const std::vector<std::int64_t>& axes);

/// Adds a view of the storage of `base`, with the element type, bytes and persistence of that storage.
ValueId add_view(Graph& graph, ValueId base, StridedShape as, std::string name);

}  // namespace poet
