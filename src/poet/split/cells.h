#pragma once

// The parts of a graph's tensors: their elements and values. Private to split.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/split/partition.h"

namespace poet::splitting {

/// A graph and its partition.
struct Cutting {
  const Graph& graph;
  const Partition& parts;
};

using Cell = std::vector<std::int64_t>;  // number of the part, per axis
using Box = std::vector<Range>;          // range of elements, per axis

/// Returns the part's ranges along the axes up to the last that is cut: "[:,64:128]".
[[nodiscard]] std::string brackets(const Part& part, const Shape& size);

/// Returns the range of part `i` along an axis of storage s.
[[nodiscard]] Range range_in(const Cutting& cutting, ValueId s, std::size_t axis, std::int64_t i);
/// Returns the part with this element of the axis, or one before it.
[[nodiscard]] std::int64_t part_near(const Cutting& cutting, ValueId s, std::size_t axis,
                                     std::int64_t element);
[[nodiscard]] Box box_of(const Cutting& cutting, ValueId s, const Cell& cell);

/// Returns the value with these elements of s. `suffix` is appended to the tensor's name.
[[nodiscard]] Value slice_of(const Cutting& cutting, ValueId s, const Box& box,
                             const std::string& suffix = "");

/// Returns the strides of `view`, which is s or a view of it, in a part of s of this shape: unchanged for
/// axes inside a cut axis of s, reduced for those outside.
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
