// The operators with windows or parameters.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/builder.h"

namespace poet {

namespace {

std::string place(const std::string& op) { return fmt::format("op '{}'", op); }

std::vector<std::int64_t> list(const Extent2d& extent) { return {extent[0], extent[1]}; }

void check_positive(const std::string& op, const char* what, const Extent2d& extent) {
  if (extent[0] < 1 || extent[1] < 1) {
    throw InputError(place(op), fmt::format("{} must be positive, not {} x {}", what, extent[0], extent[1]));
  }
}

void check_positive(const std::string& op, const char* what, std::int64_t number) {
  if (number < 1) throw InputError(place(op), fmt::format("{} must be positive, not {}", what, number));
}

void check_padding(const std::string& op, const Extent2d& padding) {
  if (padding[0] < 0 || padding[1] < 0) throw InputError(place(op), "padding must be >= 0");
}

// Windows along one axis.
struct WindowAxis {
  std::int64_t size;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t before;  // padding
  std::int64_t after;
  std::int64_t dilation;
};

// How many windows fit: floor((size + padding - dilation (kernel - 1) - 1) / stride) + 1. With `ceil` the
// quotient is rounded up, unless the window more would start behind the last element.
std::int64_t windows(const std::string& op, const WindowAxis& axis, bool ceil = false) {
  std::int64_t padded = 0;
  std::int64_t reach = 0;
  if (__builtin_add_overflow(axis.before, axis.after, &padded) ||
      __builtin_add_overflow(axis.size, padded, &padded) ||
      __builtin_mul_overflow(axis.dilation, axis.kernel - 1, &reach)) {
    throw InputError(place(op), "the window is too large for 64 bits");
  }
  if (reach >= padded) {
    const std::string padding = axis.before == axis.after ? fmt::format("{}", axis.before)
                                                          : fmt::format("{} and {}", axis.before, axis.after);
    throw InputError(place(op), fmt::format("a window of {} (dilation {}) does not fit in {} with padding {}",
                                            axis.kernel, axis.dilation, axis.size, padding));
  }
  const std::int64_t last = (padded - reach - 1) / axis.stride;  // the last window, counted from 0
  const std::int64_t left_over = (padded - reach - 1) % axis.stride;
  const std::int64_t to_last_element = axis.before + axis.size - 1;
  const bool one_more = ceil && left_over > 0 && last + 1 <= to_last_element / axis.stride;
  return last + 1 + (one_more ? 1 : 0);
}

// A window of nothing but padding has no maximum and no mean without padding. None is, when the padding
// before does not reach over a window and the last window starts on an element or before.
void check_pool_padding(const std::string& op, const WindowAxis& axis, bool even, std::int64_t count) {
  const std::int64_t most = (axis.dilation * (axis.kernel - 1) + 1) / 2;  // both fit, or windows() has thrown
  if (even && (axis.before < 0 || axis.before > most)) {
    throw InputError(place(op), fmt::format("padding must be between 0 and half of the kernel ({}), not {}",
                                            most, axis.before));
  }
  if (axis.before > axis.dilation * (axis.kernel - 1) ||
      (count - 1) * axis.stride >= axis.before + axis.size ||
      (axis.before > 0 && axis.dilation > axis.size)) {
    throw InputError(place(op), fmt::format("with padding {} and {} a window holds nothing else", axis.before,
                                            axis.after));
  }
}

// The end's padding, where it differs from the begin's.
void add_padding_end(Attributes& attributes, const Extent2d& begin, const Extent2d& end) {
  if (end != begin) attributes["padding_end"] = list(end);
}

}  // namespace

ValueId GraphBuilder::conv2d(const std::string& name, ValueId x, const Conv2dOptions& options) {
  check_operand(name, x, 4);
  check_positive(name, "kernel", options.kernel);
  check_positive(name, "stride", options.stride);
  check_positive(name, "dilation", options.dilation);
  check_positive(name, "out_channels", options.out_channels);
  check_positive(name, "groups", options.groups);
  const Extent2d end = options.padding_end.value_or(options.padding);
  check_padding(name, options.padding);
  check_padding(name, end);
  const Shape from = shape(x);
  if (from[1] % options.groups != 0 || options.out_channels % options.groups != 0) {
    throw InputError(place(name), fmt::format("{} groups must divide {} input and {} output channels",
                                              options.groups, from[1], options.out_channels));
  }
  Shape to = {from[0], options.out_channels, 0, 0};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    to[axis + 2] = windows(name, {from[axis + 2], options.kernel[axis], options.stride[axis],
                                  options.padding[axis], end[axis], options.dilation[axis]});
  }
  const Shape weight_shape = {options.out_channels, from[1] / options.groups, options.kernel[0],
                              options.kernel[1]};
  std::vector<ValueId> inputs = {x, persistent(name, name + ".weight", weight_shape, Persistence::parameter)};
  if (options.bias) {
    inputs.push_back(persistent(name, name + ".bias", {options.out_channels}, Persistence::parameter));
  }
  const ValueId y = output(name, name, {to, {}});
  Attributes attributes = {{"stride", list(options.stride)},
                           {"padding", list(options.padding)},
                           {"dilation", list(options.dilation)},
                           {"groups", options.groups}};
  add_padding_end(attributes, options.padding, end);
  append(name, "conv2d", std::move(attributes), std::move(inputs), {y});
  return y;
}

ValueId GraphBuilder::linear(const std::string& name, ValueId x, std::int64_t out_features, bool bias) {
  check_operand(name, x, -1);
  check_positive(name, "out_features", out_features);
  Shape to = shape(x);
  if (to.empty()) throw InputError(place(name), "needs at least one dimension");
  std::vector<ValueId> inputs = {
      x, persistent(name, name + ".weight", {out_features, to.back()}, Persistence::parameter)};
  if (bias) inputs.push_back(persistent(name, name + ".bias", {out_features}, Persistence::parameter));
  to.back() = out_features;
  const ValueId y = output(name, name, {to, {}});
  append(name, "linear", {}, std::move(inputs), {y});
  return y;
}

ValueId GraphBuilder::batch_norm(const std::string& name, ValueId x, const BatchNormOptions& options) {
  check_operand(name, x, -1);
  const Shape from = shape(x);
  if (from.size() < 2) throw InputError(place(name), "needs a batch and a channel dimension");
  if (!(options.eps > 0)) throw InputError(place(name), fmt::format("eps must be > 0, not {}", options.eps));
  const std::int64_t channels = from[1];
  const std::int64_t per_channel = element_count(from) / channels;
  if (per_channel < 2) {
    throw InputError(place(name), "the variance of a batch needs more than one value per channel");
  }
  const ValueId weight = persistent(name, name + ".weight", {channels}, Persistence::parameter);
  const ValueId bias = persistent(name, name + ".bias", {channels}, Persistence::parameter);
  const ValueId running_mean =
      persistent(name, name + ".running_mean", {channels}, Persistence::optimizer_state);
  const ValueId running_var =
      persistent(name, name + ".running_var", {channels}, Persistence::optimizer_state);
  const ValueId y = output(name, name, {from, {}});
  const ValueId mean = output(name, name + ".mean", {{channels}, {}});
  const ValueId invstd = output(name, name + ".invstd", {{channels}, {}});
  append(name, "batch_norm", {{"eps", options.eps}}, {x, weight, bias}, {y, mean, invstd});
  Op& stats = append(name + ".stats", "batch_norm_stats",
                     {{"momentum", options.momentum}, {"eps", options.eps}, {"count", per_channel}},
                     {mean, invstd, running_mean, running_var}, {});
  stats.pass = Pass::update;
  stats.updates = {running_mean, running_var};
  stats.recomputable = false;
  return y;
}

ValueId GraphBuilder::layer_norm(const std::string& name, ValueId x, double eps) {
  check_operand(name, x, -1);
  const Shape from = shape(x);
  if (from.size() < 2) throw InputError(place(name), "needs at least two dimensions");
  if (!(eps > 0)) throw InputError(place(name), fmt::format("eps must be > 0, not {}", eps));
  const ValueId weight = persistent(name, name + ".weight", {from.back()}, Persistence::parameter);
  const ValueId bias = persistent(name, name + ".bias", {from.back()}, Persistence::parameter);
  const Shape rows(from.begin(), from.end() - 1);
  const ValueId y = output(name, name, {from, {}});
  const ValueId mean = output(name, name + ".mean", {rows, {}});
  const ValueId rstd = output(name, name + ".rstd", {rows, {}});
  append(name, "layer_norm", {{"eps", eps}}, {x, weight, bias}, {y, mean, rstd});
  return y;
}

ValueId GraphBuilder::pool(const std::string& name, const char* kind, ValueId x, const Pool2dOptions& options,
                           bool indices) {
  check_operand(name, x, 4);
  check_positive(name, "kernel", options.kernel);
  check_positive(name, "stride", options.stride);
  check_positive(name, "dilation", options.dilation);
  const Extent2d end = options.padding_end.value_or(options.padding);
  check_padding(name, options.padding);
  check_padding(name, end);
  Shape to = shape(x);
  for (std::size_t i = 0; i < 2; ++i) {
    const WindowAxis axis = {to[i + 2], options.kernel[i],  options.stride[i], options.padding[i],
                             end[i],    options.dilation[i]};
    to[i + 2] = windows(name, axis, options.ceil_mode);
    check_pool_padding(name, axis, !options.padding_end, to[i + 2]);
  }
  std::vector<ValueId> outputs = {output(name, name, {to, {}})};
  if (indices) outputs.push_back(output(name, name + ".indices", {to, {}}, DType::uint8));
  Attributes attributes = {
      {"kernel", list(options.kernel)}, {"stride", list(options.stride)}, {"padding", list(options.padding)}};
  add_padding_end(attributes, options.padding, end);
  if (options.dilation != Extent2d{1, 1}) attributes["dilation"] = list(options.dilation);
  if (!indices && !options.count_include_pad) attributes["count_include_pad"] = std::int64_t{0};
  append(name, kind, std::move(attributes), {x}, outputs);
  return outputs.front();
}

ValueId GraphBuilder::max_pool2d(const std::string& name, ValueId x, const Pool2dOptions& options) {
  check_positive(name, "kernel", options.kernel);
  if (options.kernel[0] > 256 || options.kernel[1] > 256 || options.kernel[0] * options.kernel[1] > 256) {
    throw InputError(place(name), "a window may have at most 256 elements: indices are bytes");
  }
  return pool(name, "max_pool2d", x, options, true);
}

ValueId GraphBuilder::avg_pool2d(const std::string& name, ValueId x, const Pool2dOptions& options) {
  return pool(name, "avg_pool2d", x, options, false);
}

ValueId GraphBuilder::global_avg_pool(const std::string& name, ValueId x) {
  check_operand(name, x, 4);
  const ValueId y = output(name, name, {{shape(x)[0], shape(x)[1], 1, 1}, {}});
  append(name, "global_avg_pool", {}, {x}, {y});
  return y;
}

ValueId GraphBuilder::global_max_pool(const std::string& name, ValueId x) {
  check_operand(name, x, 4);
  const Shape to = {shape(x)[0], shape(x)[1], 1, 1};
  const ValueId y = output(name, name, {to, {}});
  const ValueId indices = output(name, name + ".indices", {to, {}}, DType::int32);
  append(name, "global_max_pool", {}, {x}, {y, indices});
  return y;
}

ValueId GraphBuilder::embedding(const std::string& name, ValueId indices, std::int64_t rows,
                                std::int64_t width) {
  check_operand(name, indices, -1, DType::int32);
  check_positive(name, "rows", rows);
  check_positive(name, "width", width);
  const ValueId table = persistent(name, name + ".weight", {rows, width}, Persistence::parameter);
  Shape to = shape(indices);
  to.push_back(width);
  const ValueId y = output(name, name, {to, {}});
  append(name, "embedding", {}, {indices, table}, {y});
  return y;
}

}  // namespace poet
