#pragma once

// A graph's tensors and their parts: which elements a part has, and the value that it is. Private to split.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/split/partition.h"

namespace poet::splitting {

/// What is cut, and how.
struct Cutting {
  const Graph& graph;
  const Partition& parts;
};

using Cell = std::vector<std::int64_t>;  // per axis the number of the part
using Box = std::vector<Range>;          // per axis its elements

/// "[:,64:128]": along the axes up to the last that is cut.
[[nodiscard]] std::string brackets(const Part& part, const Shape& size);

/// Of part `i` along an axis of storage s.
[[nodiscard]] Range range_in(const Cutting& cutting, ValueId s, std::size_t axis, std::int64_t i);
/// The part with this element of the axis, or one before it.
[[nodiscard]] std::int64_t part_near(const Cutting& cutting, ValueId s, std::size_t axis,
                                     std::int64_t element);
[[nodiscard]] Box box_of(const Cutting& cutting, ValueId s, const Cell& cell);

/// The value with these elements of s. `suffix`: of the tensor's name.
[[nodiscard]] Value slice_of(const Cutting& cutting, ValueId s, const Box& box,
                             const std::string& suffix = "");

/// The strides of `view`, a view of s or itself, in a part of s of this shape: axes that lie within an axis
/// of s that is cut are not touched, those without step over less.
[[nodiscard]] Shape strides_within(const Cutting& cutting, ValueId s, const Value& view, const Shape& part);

template <class F>
void for_each_cell(const Cutting& cutting, ValueId s, const F& f) {
  Cell cell(cutting.graph.values[s].shape.size(), 0);
  for (;;) {
    f(cell);
    std::size_t a = cell.size();
    while (a > 0 && ++cell[a - 1] == cutting.parts.parts(cutting.parts.of_axis[s][a - 1])) cell[--a] = 0;
    if (a == 0) return;
  }
}

}  // namespace poet::splitting
