#include "poet/graph/nn/norms.h"

#include <fmt/format.h>

#include <cmath>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

using diagnostics::place;

namespace {

void check_channels(const std::string& op, const Shape& shape) {
  if (shape.size() < 2) throw InputError(place(op), "needs a batch and a channel dimension");
}

}  // namespace

ValueId batch_norm(GraphBuilder& g, const std::string& name, ValueId x, const BatchNormOptions& options) {
  g.check_operand(name, x);
  const Shape from = g.shape(x);
  check_channels(name, from);
  if (!(options.eps > 0)) throw InputError(place(name), fmt::format("eps must be > 0, not {}", options.eps));
  const std::int64_t channels = from[1];
  const std::int64_t per_channel = element_count(from) / channels;
  if (per_channel < 2) {
    throw InputError(place(name), "the variance of a batch needs more than one value per channel");
  }
  const ValueId weight = g.persistent(name, name + ".weight", {channels}, Persistence::parameter);
  const ValueId bias = g.persistent(name, name + ".bias", {channels}, Persistence::parameter);
  const ValueId running_mean =
      g.persistent(name, name + ".running_mean", {channels}, Persistence::optimizer_state);
  const ValueId running_var =
      g.persistent(name, name + ".running_var", {channels}, Persistence::optimizer_state);
  const ValueId y = g.output(name, name, {from, {}});
  const ValueId mean = g.output(name, name + ".mean", {{channels}, {}});
  const ValueId invstd = g.output(name, name + ".invstd", {{channels}, {}});
  g.append(name, "batch_norm", {{"eps", options.eps}}, {x, weight, bias}, {y, mean, invstd});
  g.append(name + ".stats", "batch_norm_stats",
           {{"momentum", options.momentum}, {"eps", options.eps}, {"count", per_channel}},
           {mean, invstd, running_mean, running_var}, {}, {running_mean, running_var});
  return y;
}

ValueId layer_norm(GraphBuilder& g, const std::string& name, ValueId x, double eps) {
  g.check_operand(name, x);
  const Shape from = g.shape(x);
  if (from.size() < 2) throw InputError(place(name), "needs at least two dimensions");
  if (!(eps > 0)) throw InputError(place(name), fmt::format("eps must be > 0, not {}", eps));
  const ValueId weight = g.persistent(name, name + ".weight", {from.back()}, Persistence::parameter);
  const ValueId bias = g.persistent(name, name + ".bias", {from.back()}, Persistence::parameter);
  const Shape rows(from.begin(), from.end() - 1);
  const ValueId y = g.output(name, name, {from, {}});
  const ValueId mean = g.output(name, name + ".mean", {rows, {}});
  const ValueId rstd = g.output(name, name + ".rstd", {rows, {}});
  g.append(name, "layer_norm", {{"eps", eps}}, {x, weight, bias}, {y, mean, rstd});
  return y;
}

ValueId group_norm(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t groups, double eps) {
  g.check_operand(name, x);
  const Shape from = g.shape(x);
  check_channels(name, from);
  if (!(eps > 0)) throw InputError(place(name), fmt::format("eps must be > 0, not {}", eps));
  const std::int64_t channels = from[1];
  if (groups < 1 || channels % groups != 0) {
    throw InputError(place(name), fmt::format("{} groups must divide {} channels", groups, channels));
  }
  if (element_count(from) / from[0] / groups < 2) {
    throw InputError(place(name), "the variance of a group needs more than one value");
  }
  const ValueId weight = g.persistent(name, name + ".weight", {channels}, Persistence::parameter);
  const ValueId bias = g.persistent(name, name + ".bias", {channels}, Persistence::parameter);
  const ValueId y = g.output(name, name, {from, {}});
  const ValueId mean = g.output(name, name + ".mean", {{from[0], groups}, {}});
  const ValueId rstd = g.output(name, name + ".rstd", {{from[0], groups}, {}});
  g.append(name, "group_norm", {{"groups", groups}, {"eps", eps}}, {x, weight, bias}, {y, mean, rstd});
  return y;
}

ValueId instance_norm(GraphBuilder& g, const std::string& name, ValueId x, double eps) {
  g.check_operand(name, x);
  check_channels(name, g.shape(x));
  return group_norm(g, name, x, g.shape(x)[1], eps);
}

ValueId lrn(GraphBuilder& g, const std::string& name, ValueId x, const LrnOptions& options) {
  g.check_operand(name, x);
  check_channels(name, g.shape(x));
  if (options.size < 1)
    throw InputError(place(name), fmt::format("size must be positive, not {}", options.size));
  // What is raised to the power -beta must be positive whatever x is.
  if (!(options.bias > 0) || !(options.alpha >= 0)) {
    throw InputError(place(name), fmt::format("needs bias > 0 and alpha >= 0, not {} and {}", options.bias,
                                              options.alpha));
  }
  if (!std::isfinite(options.beta))
    throw InputError(place(name), fmt::format("beta must be finite, not {}", options.beta));
  const ValueId y = g.output(name, name, {g.shape(x), {}});
  g.append(name, "lrn",
           {{"size", options.size}, {"alpha", options.alpha}, {"beta", options.beta}, {"bias", options.bias}},
           {x}, {y});
  return y;
}

}  // namespace poet::nn
