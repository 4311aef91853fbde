// Arithmetic element by element, with one or two operands, and sums along axes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/builder.h"
#include "poet/graph/complaints.h"

namespace poet {

using complaints::place;
using complaints::text;

namespace {

void check_finite(const std::string& op, const char* what, double number) {
  if (!std::isfinite(number))
    throw InputError(place(op), fmt::format("{} must be finite, not {}", what, number));
}

// Below zero a value would no longer tell the sign of what it was computed from, which the gradient reads.
void check_not_negative(const std::string& op, const char* what, double number) {
  check_finite(op, what, number);
  if (number < 0) throw InputError(place(op), fmt::format("{} must be >= 0, not {}", what, number));
}

}  // namespace

ValueId GraphBuilder::binary(const std::string& name, const char* kind, ValueId a, ValueId b) {
  const DType type = checked_type(name, a, DType::float32, {DType::int32});
  check_operand(name, b, -1, type);
  return joined(name, kind, a, b, type);
}

ValueId GraphBuilder::add(const std::string& name, ValueId a, ValueId b) { return binary(name, "add", a, b); }
ValueId GraphBuilder::sub(const std::string& name, ValueId a, ValueId b) { return binary(name, "sub", a, b); }
ValueId GraphBuilder::mul(const std::string& name, ValueId a, ValueId b) { return binary(name, "mul", a, b); }
ValueId GraphBuilder::div(const std::string& name, ValueId a, ValueId b) {
  check_operand(name, a, -1);
  return binary(name, "div", a, b);
}

ValueId GraphBuilder::scale(const std::string& name, ValueId x, double alpha, double beta) {
  check_finite(name, "alpha", alpha);
  check_finite(name, "beta", beta);
  if (graph_.values[x].dtype == DType::int32) {
    for (const double number : {alpha, beta}) {
      if (number != std::trunc(number))
        throw InputError(place(name), fmt::format("scales integers by {}, which is no whole number", number));
    }
  }
  if (alpha == 1.0) return elementwise(name, "shift", x, {{"beta", beta}});
  return elementwise(name, "scale", x, {{"alpha", alpha}, {"beta", beta}});
}

ValueId GraphBuilder::neg(const std::string& name, ValueId x) { return scale(name, x, -1.0); }

ValueId GraphBuilder::sigmoid(const std::string& name, ValueId x) { return elementwise(name, "sigmoid", x); }
ValueId GraphBuilder::erf(const std::string& name, ValueId x) { return elementwise(name, "erf", x); }
ValueId GraphBuilder::exp(const std::string& name, ValueId x) { return elementwise(name, "exp", x); }
ValueId GraphBuilder::log(const std::string& name, ValueId x) { return elementwise(name, "log", x); }
ValueId GraphBuilder::sqrt(const std::string& name, ValueId x) { return elementwise(name, "sqrt", x); }
ValueId GraphBuilder::abs(const std::string& name, ValueId x) { return elementwise(name, "abs", x); }
ValueId GraphBuilder::hardswish(const std::string& name, ValueId x) {
  return elementwise(name, "hardswish", x);
}

ValueId GraphBuilder::pow(const std::string& name, ValueId x, double exponent) {
  check_finite(name, "the exponent", exponent);
  if (exponent == 0)
    throw InputError(place(name), "the exponent must not be 0: the result would be constant");
  return elementwise(name, "pow", x, {{"exponent", exponent}});
}

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
  return elementwise(name, "clip", x, std::move(bounds));
}

ValueId GraphBuilder::leaky_relu(const std::string& name, ValueId x, double alpha) {
  check_not_negative(name, "alpha", alpha);
  return elementwise(name, "leaky_relu", x, {{"alpha", alpha}});
}

ValueId GraphBuilder::elu(const std::string& name, ValueId x, double alpha) {
  check_not_negative(name, "alpha", alpha);
  return elementwise(name, "elu", x, {{"alpha", alpha}});
}

ValueId GraphBuilder::hardsigmoid(const std::string& name, ValueId x, double alpha, double beta) {
  check_finite(name, "alpha", alpha);
  check_finite(name, "beta", beta);
  return elementwise(name, "hardsigmoid", x, {{"alpha", alpha}, {"beta", beta}});
}

ValueId GraphBuilder::reduction(const std::string& name, const char* kind, ValueId x,
                                std::vector<std::int64_t> axes, bool keepdims) {
  check_operand(name, x, -1);
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

ValueId GraphBuilder::reduce_sum(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes,
                                 bool keepdims) {
  return reduction(name, "reduce_sum", x, axes, keepdims);
}

ValueId GraphBuilder::reduce_mean(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes,
                                  bool keepdims) {
  return reduction(name, "reduce_mean", x, axes, keepdims);
}

}  // namespace poet
