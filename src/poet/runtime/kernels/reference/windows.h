#pragma once

// Windows over images of one to three spatial axes, which are treated as three: missing ones come first and
// have size 1.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "poet/runtime/kernels/reference/op_reader.h"

namespace poet::runtime {

/// Depth, height and width.
using Extents = std::array<Index, 3>;

[[nodiscard]] inline Index volume(const Extents& e) { return e[0] * e[1] * e[2]; }

/// The spatial axes of a tensor whose first two are others.
[[nodiscard]] inline Extents spatial(const Shape& shape) {
  Extents e = {1, 1, 1};
  std::copy(shape.begin() + 2, shape.end(), e.end() - static_cast<std::ptrdiff_t>(shape.size() - 2));
  return e;
}

/// An attribute with one number per spatial axis; `missing` stands for axes and lists that are not there.
[[nodiscard]] inline Extents extents(const OpReader& op, const char* name, Index missing) {
  Extents e = {missing, missing, missing};
  if (!op.has(name)) return e;
  const std::vector<Index>& list = op.list(name);
  std::copy(list.begin(), list.end(), e.end() - static_cast<std::ptrdiff_t>(list.size()));
  return e;
}

/// Element `place` of a box, row-major.
[[nodiscard]] inline Extents position_in(const Extents& box, Index place) {
  return {place / (box[1] * box[2]), place / box[2] % box[1], place % box[2]};
}

/// The positions i in [begin, end) of [0, count) for which i * step + offset lies in [0, size).
struct Reach {
  Index begin = 0;
  Index end = 0;
};
[[nodiscard]] inline Reach reach(Index count, Index step, Index offset, Index size) {
  const auto up = [step](Index distance) {
    if (distance <= 0) return Index{0};
    return step == 1 ? distance : (distance + step - 1) / step;  // a division is most of the work
  };
  const Index begin = std::min(count, up(-offset));
  return {begin, std::max(begin, std::min(count, up(size - offset)))};
}

}  // namespace poet::runtime
