#include "poet/graph/nn/gather.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

using diagnostics::check_positive;
using diagnostics::checked_axis;
using diagnostics::place;
using diagnostics::text;

ValueId embedding(GraphBuilder& g, const std::string& name, ValueId indices, std::int64_t rows,
                  std::int64_t width) {
  g.check_operand(name, indices, -1, DType::int32);
  check_positive(name, "rows", rows);
  check_positive(name, "width", width);
  const ValueId table = g.persistent(name, name + ".weight", {rows, width}, Persistence::parameter);
  Shape to = g.shape(indices);
  to.push_back(width);
  const ValueId y = g.output(name, name, {to, {}});
  g.append(name, "embedding", {}, {indices, table}, {y});
  return y;
}

ValueId gather(GraphBuilder& g, const std::string& name, ValueId x, ValueId indices, std::int64_t axis) {
  const DType type = g.any_type(name, x);
  g.check_operand(name, indices, -1, DType::int32);
  Shape to = g.shape(x);
  (void)checked_axis(name, axis, to);
  const auto at = to.erase(to.begin() + axis);
  const Shape& by = g.shape(indices);
  to.insert(at, by.begin(), by.end());
  const ValueId y = g.output(name, name, {std::move(to), {}}, type);
  g.append(name, "gather", {{"axis", axis}}, {x, indices}, {y});
  return y;
}

ValueId gather_elements(GraphBuilder& g, const std::string& name, ValueId x, ValueId indices,
                        std::int64_t axis) {
  const DType type = g.any_type(name, x);
  g.check_operand(name, indices, static_cast<int>(g.shape(x).size()), DType::int32);
  const Shape& from = g.shape(x);
  const Shape to = g.shape(indices);
  const std::size_t along = checked_axis(name, axis, from);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i != along && to[i] > from[i]) {
      throw InputError(place(name),
                       fmt::format("positions {} reach out of {} along axis {}", text(to), text(from), i));
    }
  }
  const ValueId y = g.output(name, name, {to, {}}, type);
  g.append(name, "gather_elements", {{"axis", axis}}, {x, indices}, {y});
  return y;
}

ValueId select(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t index) {
  g.check_operand(name, x, 3);
  const Shape from = g.shape(x);
  if (index < 0 || index >= from[1]) {
    throw InputError(place(name), fmt::format("selects position {} of {}", index, from[1]));
  }
  const ValueId y = g.output(name, name, {{from[0], from[2]}, {}});
  g.append(name, "select", {{"index", index}}, {x}, {y});
  return y;
}

}  // namespace poet::nn
