#include "poet/split/cells.h"

#include <fmt/format.h>

#include <utility>

#include "poet/graph/strides.h"

namespace poet::splitting {
namespace {

const AxisClass& axis_class(const Cutting& cutting, ValueId storage, std::size_t axis) {
  return cutting.parts.classes[static_cast<std::size_t>(cutting.parts.of_axis[storage][axis])];
}

}  // namespace

std::string brackets(const Part& part, const Shape& size) {
  std::size_t end = size.size();
  while (end > 0 && size[end - 1] == part.shape[end - 1]) --end;
  if (end == 0) return "";
  std::string text;
  for (std::size_t a = 0; a < end; ++a) {
    text += a == 0 ? "[" : ",";
    text += size[a] == part.shape[a] ? ":" : fmt::format("{}:{}", part.begin[a], part.begin[a] + size[a]);
  }
  return text + "]";
}

Range range_in(const Cutting& cutting, ValueId s, std::size_t axis, std::int64_t i) {
  const std::int64_t size = cutting.graph.values[s].shape[axis];
  return cutting.parts.of_axis[s][axis] == kNoClass ? Range{0, size}
                                                    : range_of(axis_class(cutting, s, axis), size, i);
}

std::int64_t part_near(const Cutting& cutting, ValueId s, std::size_t axis, std::int64_t element) {
  if (cutting.parts.of_axis[s][axis] == kNoClass) return 0;
  return element * axis_class(cutting, s, axis).parts / cutting.graph.values[s].shape[axis];
}

Box box_of(const Cutting& cutting, ValueId s, const Cell& cell) {
  Box box;
  for (std::size_t a = 0; a < cell.size(); ++a) box.push_back(range_in(cutting, s, a, cell[a]));
  return box;
}

Value slice_of(const Cutting& cutting, ValueId s, const Box& box, const std::string& suffix) {
  Value value = cutting.graph.values[s];
  value.producer = OpId();
  value.name += suffix;
  Part part{tensor_name(value), tensor_shape(value), Shape(value.shape.size(), 0)};
  if (value.part) {
    part.tensor += suffix;
    part.begin = value.part->begin;
  }
  bool cut = false;
  for (std::size_t a = 0; a < box.size(); ++a) {
    cut = cut || box[a].end - box[a].begin < value.shape[a];
    part.begin[a] += box[a].begin;
    value.shape[a] = box[a].end - box[a].begin;
  }
  if (!cut) return value;
  value.strides = strides_within(cutting, s, cutting.graph.values[s], value.shape);
  value.bytes = byte_count(value.shape, value.dtype);
  value.name = part.tensor + brackets(part, value.shape);
  value.part = std::move(part);
  return value;
}

Shape strides_within(const Cutting& cutting, ValueId s, const Value& view, const Shape& part) {
  if (view.strides.empty()) return {};
  const Value& whole = cutting.graph.values[s];
  const Shape own = whole.strides.empty() ? row_major_strides(whole.shape) : whole.strides;
  Shape strides = view.strides;
  for (std::int64_t& stride : strides) {
    const std::int64_t before = stride;
    for (std::size_t a = 0; a < part.size(); ++a)
      if (part[a] != whole.shape[a] && own[a] * whole.shape[a] <= before)
        stride = stride / whole.shape[a] * part[a];
  }
  return strides;
}

}  // namespace poet::splitting
