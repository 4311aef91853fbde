#pragma once

// NumPy's broadcasting: shapes are aligned at their last axes; axes of size 1 and missing ones stretch.

#include <optional>

#include "poet/graph/graph.h"

namespace poet {

/// Returns the shape to which `a` and `b` broadcast, or nullopt if two axes differ and neither is 1. O(rank).
[[nodiscard]] std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);

}  // namespace poet
