#pragma once

// How NumPy joins two shapes: aligned at their last axes, axes of size 1 (and missing ones) stretch.

#include <optional>

#include "poet/graph/graph.h"

namespace poet {

/// The shape that `a` and `b` have in common when stretched; nothing when two axes differ and neither is 1.
/// O(rank).
[[nodiscard]] std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);

}  // namespace poet
