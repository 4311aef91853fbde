#include "poet/graph/broadcast.h"

#include <algorithm>
#include <cstddef>

namespace poet {

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  const auto stretch = [&result](const Shape& shape) {
    const std::size_t missing = result.size() - shape.size();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      std::int64_t& size = result[axis + missing];
      if (shape[axis] == size || shape[axis] == 1) continue;
      if (size != 1) return false;
      size = shape[axis];
    }
    return true;
  };
  if (!stretch(a) || !stretch(b)) return std::nullopt;
  return result;
}

}  // namespace poet
