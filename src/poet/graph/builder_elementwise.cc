// Arithmetic element by element, with one or two operands, and what is along axes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/builder.h"
#include "poet/graph/diagnostics.h"

namespace poet {

using diagnostics::place;
using diagnostics::text;

ValueId GraphBuilder::binary(const std::string& kind, const std::string& name, ValueId a, ValueId b) {
  const DType type = written_type(kind, 2, any_type(name, a));
  (void)any_type(name, b);
  const ValueId y = output(name, name, {diagnostics::stretched(name, shape(a), shape(b)), {}}, type);
  append(name, kind, {}, {a, b}, {y});
  return y;
}

ValueId GraphBuilder::scale(const std::string& name, ValueId x, double alpha, double beta) {
  if (alpha == 1.0) return unary("shift", name, x, {{"beta", beta}});
  return unary("scale", name, x, {{"alpha", alpha}, {"beta", beta}});
}

ValueId GraphBuilder::neg(const std::string& name, ValueId x) { return scale(name, x, -1.0); }

ValueId GraphBuilder::clip(const std::string& name, ValueId x, double minimum, double maximum) {
  if (!(minimum < maximum)) {
    throw InputError(place(name),
                     fmt::format("the minimum must be below the maximum, not {} and {}", minimum, maximum));
  }
  // Files have no infinite numbers.
  Attributes bounds;
  if (std::isfinite(minimum)) bounds["min"] = minimum;
  if (std::isfinite(maximum)) bounds["max"] = maximum;
  if (bounds.empty()) throw InputError(place(name), "needs a minimum or a maximum");
  return unary("clip", name, x, std::move(bounds));
}

ValueId GraphBuilder::prelu(const std::string& name, ValueId x, ValueId slope) {
  for (const ValueId v : {x, slope}) (void)any_type(name, v);
  const ValueId y = output(name, name, {shape(x), {}});
  append(name, "prelu", {}, {x, slope}, {y});
  return y;
}

ValueId GraphBuilder::reduce(const std::string& kind, const std::string& name, ValueId x,
                             std::vector<std::int64_t> axes, bool keepdims) {
  (void)any_type(name, x);
  const Shape& from = shape(x);
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
  const ValueId y = output(name, name, {std::move(to), {}});
  append(name, kind, {{"axes", std::move(axes)}, {"keepdims", std::int64_t{keepdims ? 1 : 0}}}, {x}, {y});
  return y;
}

}  // namespace poet
