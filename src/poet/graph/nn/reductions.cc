#include "poet/graph/nn/reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

using diagnostics::checked_axis;
using diagnostics::place;
using diagnostics::text;

ValueId reduce(GraphBuilder& g, const std::string& kind, const std::string& name, ValueId x,
               std::vector<std::int64_t> axes, bool keepdims) {
  (void)g.any_type(name, x);
  const Shape& from = g.shape(x);
  std::vector<bool> reduced(from.size());
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(from.size())) {
      throw InputError(place(name), fmt::format("{} has no axis {}", text(from), axis));
    }
    if (reduced[static_cast<std::size_t>(axis)]) {
      throw InputError(place(name), fmt::format("axis {} is listed twice", axis));
    }
    reduced[static_cast<std::size_t>(axis)] = true;
  }
  if (axes.empty()) throw InputError(place(name), "needs at least one axis");
  std::sort(axes.begin(), axes.end());
  Shape to;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (!reduced[axis]) to.push_back(from[axis]);
    if (reduced[axis] && keepdims) to.push_back(1);
  }
  const ValueId y = g.output(name, name, {std::move(to), {}});
  g.append(name, kind, {{"axes", std::move(axes)}, {"keepdims", std::int64_t{keepdims ? 1 : 0}}}, {x}, {y});
  return y;
}

ValueId argmax(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t axis, bool keepdims,
               bool last) {
  (void)g.any_type(name, x);
  const std::size_t along = checked_axis(name, axis, g.shape(x));
  Shape to = g.shape(x);
  if (to[along] > std::numeric_limits<std::int32_t>::max())
    throw InputError(place(name), fmt::format("positions of {} do not fit int32", to[along]));
  if (keepdims) {
    to[along] = 1;
  } else {
    to.erase(to.begin() + axis);
  }
  const ValueId y = g.output(name, name, {std::move(to), {}}, DType::int32);
  g.append(
      name, "argmax",
      {{"axis", axis}, {"keepdims", std::int64_t{keepdims ? 1 : 0}}, {"last", std::int64_t{last ? 1 : 0}}},
      {x}, {y});
  return y;
}

ValueId cumsum(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t axis, bool exclusive,
               bool reverse) {
  const DType type = g.any_type(name, x);
  (void)checked_axis(name, axis, g.shape(x));
  const ValueId y = g.output(name, name, {g.shape(x), {}}, type);
  g.append(name, "cumsum",
           {{"axis", axis},
            {"exclusive", std::int64_t{exclusive ? 1 : 0}},
            {"reverse", std::int64_t{reverse ? 1 : 0}}},
           {x}, {y});
  return y;
}

}  // namespace poet::nn
