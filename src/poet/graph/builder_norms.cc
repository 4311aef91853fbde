// Normalisations within one image: group norm, instance norm, local response norm.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "poet/base/error.h"
#include "poet/graph/builder.h"
#include "poet/graph/diagnostics.h"

namespace poet {

using diagnostics::place;

namespace {

void check_channels(const std::string& op, const Shape& shape) {
  if (shape.size() < 2) throw InputError(place(op), "needs a batch and a channel dimension");
}

}  // namespace

ValueId GraphBuilder::group_norm(const std::string& name, ValueId x, std::int64_t groups, double eps) {
  check_operand(name, x, -1);
  const Shape from = shape(x);
  check_channels(name, from);
  if (!(eps > 0)) throw InputError(place(name), fmt::format("eps must be > 0, not {}", eps));
  const std::int64_t channels = from[1];
  if (groups < 1 || channels % groups != 0) {
    throw InputError(place(name), fmt::format("{} groups must divide {} channels", groups, channels));
  }
  if (element_count(from) / from[0] / groups < 2) {
    throw InputError(place(name), "the variance of a group needs more than one value");
  }
  const ValueId weight = persistent(name, name + ".weight", {channels}, Persistence::parameter);
  const ValueId bias = persistent(name, name + ".bias", {channels}, Persistence::parameter);
  const ValueId y = output(name, name, {from, {}});
  const ValueId mean = output(name, name + ".mean", {{from[0], groups}, {}});
  const ValueId rstd = output(name, name + ".rstd", {{from[0], groups}, {}});
  append(name, "group_norm", {{"groups", groups}, {"eps", eps}}, {x, weight, bias}, {y, mean, rstd});
  return y;
}

ValueId GraphBuilder::instance_norm(const std::string& name, ValueId x, double eps) {
  check_operand(name, x, -1);
  check_channels(name, shape(x));
  return group_norm(name, x, shape(x)[1], eps);
}

ValueId GraphBuilder::lrn(const std::string& name, ValueId x, const LrnOptions& options) {
  check_operand(name, x, -1);
  check_channels(name, shape(x));
  if (options.size < 1)
    throw InputError(place(name), fmt::format("size must be positive, not {}", options.size));
  // What is raised to the power -beta must be positive whatever x is.
  if (!(options.bias > 0) || !(options.alpha >= 0)) {
    throw InputError(place(name), fmt::format("needs bias > 0 and alpha >= 0, not {} and {}", options.bias,
                                              options.alpha));
  }
  if (!std::isfinite(options.beta))
    throw InputError(place(name), fmt::format("beta must be finite, not {}", options.beta));
  const ValueId y = output(name, name, {shape(x), {}});
  append(name, "lrn",
         {{"size", options.size}, {"alpha", options.alpha}, {"beta", options.beta}, {"bias", options.bias}},
         {x}, {y});
  return y;
}

}  // namespace poet
