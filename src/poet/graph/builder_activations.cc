// Activations beyond those of builder_elementwise.cc, log-softmax, and extremes along axes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "poet/base/error.h"
#include "poet/graph/broadcast.h"
#include "poet/graph/builder.h"
#include "poet/graph/complaints.h"

namespace poet {

using complaints::place;
using complaints::text;

namespace {

void check_positive(const std::string& op, const char* what, double number, bool or_zero = false) {
  if (!std::isfinite(number) || number < 0 || (number == 0 && !or_zero)) {
    throw InputError(place(op),
                     fmt::format("{} must be finite and {} 0, not {}", what, or_zero ? ">=" : ">", number));
  }
}

}  // namespace

ValueId GraphBuilder::silu(const std::string& name, ValueId x) { return elementwise(name, "silu", x); }
ValueId GraphBuilder::mish(const std::string& name, ValueId x) { return elementwise(name, "mish", x); }
ValueId GraphBuilder::softplus(const std::string& name, ValueId x) {
  return elementwise(name, "softplus", x);
}
ValueId GraphBuilder::softsign(const std::string& name, ValueId x) {
  return elementwise(name, "softsign", x);
}
ValueId GraphBuilder::sin(const std::string& name, ValueId x) { return elementwise(name, "sin", x); }
ValueId GraphBuilder::cos(const std::string& name, ValueId x) { return elementwise(name, "cos", x); }
ValueId GraphBuilder::sign(const std::string& name, ValueId x) { return elementwise(name, "sign", x); }
ValueId GraphBuilder::floor(const std::string& name, ValueId x) { return elementwise(name, "floor", x); }
ValueId GraphBuilder::ceil(const std::string& name, ValueId x) { return elementwise(name, "ceil", x); }
ValueId GraphBuilder::round(const std::string& name, ValueId x) { return elementwise(name, "round", x); }

// Signs and magnitudes of the constants are such that y tells the sign of x, as the gradient has it.
ValueId GraphBuilder::selu(const std::string& name, ValueId x, double alpha, double gamma) {
  check_positive(name, "alpha", alpha, true);
  check_positive(name, "gamma", gamma);
  return elementwise(name, "selu", x, {{"alpha", alpha}, {"gamma", gamma}});
}

ValueId GraphBuilder::celu(const std::string& name, ValueId x, double alpha) {
  check_positive(name, "alpha", alpha);
  return elementwise(name, "celu", x, {{"alpha", alpha}});
}

ValueId GraphBuilder::thresholded_relu(const std::string& name, ValueId x, double alpha) {
  check_positive(name, "alpha", alpha, true);
  return elementwise(name, "thresholded_relu", x, {{"alpha", alpha}});
}

ValueId GraphBuilder::prelu(const std::string& name, ValueId x, ValueId slope) {
  check_operand(name, x, -1);
  check_operand(name, slope, -1);
  if (broadcast_shape(shape(x), shape(slope)) != shape(x)) {
    throw InputError(place(name), fmt::format("a slope of {} does not broadcast to {}", text(shape(slope)),
                                              text(shape(x))));
  }
  const ValueId y = output(name, name, {shape(x), {}});
  append(name, "prelu", {}, {x, slope}, {y});
  return y;
}

ValueId GraphBuilder::log_softmax(const std::string& name, ValueId x) {
  check_operand(name, x, -1);
  if (shape(x).empty()) throw InputError(place(name), "needs at least one dimension");
  return elementwise(name, "log_softmax", x);
}

ValueId GraphBuilder::reduce_max(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes,
                                 bool keepdims) {
  return reduction(name, "reduce_max", x, axes, keepdims);
}

ValueId GraphBuilder::reduce_min(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes,
                                 bool keepdims) {
  return reduction(name, "reduce_min", x, axes, keepdims);
}

}  // namespace poet
