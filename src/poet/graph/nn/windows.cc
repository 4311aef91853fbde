#include "poet/graph/nn/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

using diagnostics::check_positive;
using diagnostics::place;

namespace {

// Windows along one axis.
struct WindowAxis {
  std::int64_t size;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t before;  // padding
  std::int64_t after;
  std::int64_t dilation;
};

// The windows of an operator, one number per spatial axis in each list.
struct Windows {
  Extent kernel;
  Extent stride;
  Extent before;  // padding
  Extent after;
  Extent dilation;

  [[nodiscard]] WindowAxis axis(std::size_t i, std::int64_t size) const {
    return {size, kernel[i], stride[i], before[i], after[i], dilation[i]};
  }
};

// What is given, or `otherwise` when nothing is.
Extent per_axis(const std::string& op, const char* what, const Extent& given, const Extent& otherwise) {
  if (given.empty()) return otherwise;
  if (given.size() != otherwise.size()) {
    throw InputError(place(op),
                     fmt::format("{} must have {} numbers, not {}", what, otherwise.size(), given.size()));
  }
  return given;
}

Extent positive(const std::string& op, const char* what, Extent extent) {
  if (std::any_of(extent.begin(), extent.end(), [](std::int64_t d) { return d < 1; })) {
    throw InputError(place(op), fmt::format("{} must be positive, not {}", what, fmt::join(extent, " x ")));
  }
  return extent;
}

Extent not_negative(const std::string& op, const char* what, Extent extent) {
  if (std::any_of(extent.begin(), extent.end(), [](std::int64_t d) { return d < 0; })) {
    throw InputError(place(op), fmt::format("{} must be >= 0", what));
  }
  return extent;
}

// The options with their defaults, checked; `pool`: windows of 2, side by side, and not of 1.
template <class Options>
Windows checked(const std::string& op, std::size_t axes, const Options& options, bool pool) {
  const Extent ones(axes, 1);
  Windows w;
  w.kernel = positive(op, "kernel", per_axis(op, "kernel", options.kernel, pool ? Extent(axes, 2) : ones));
  w.stride = positive(op, "stride", per_axis(op, "stride", options.stride, pool ? w.kernel : ones));
  w.dilation = positive(op, "dilation", per_axis(op, "dilation", options.dilation, ones));
  w.before = not_negative(op, "padding", per_axis(op, "padding", options.padding, Extent(axes, 0)));
  w.after = not_negative(op, "padding", per_axis(op, "padding_end", options.padding_end, w.before));
  return w;
}

[[noreturn]] void refuse_size(const std::string& op) {
  throw InputError(place(op), "the window is too large for 64 bits");
}

// How many windows fit: floor((size + padding - dilation (kernel - 1) - 1) / stride) + 1. With `ceil` the
// quotient is rounded up, unless the window more would start behind the last element.
std::int64_t windows(const std::string& op, const WindowAxis& axis, bool ceil = false) {
  std::int64_t padded = 0;
  std::int64_t reach = 0;
  if (__builtin_add_overflow(axis.before, axis.after, &padded) ||
      __builtin_add_overflow(axis.size, padded, &padded) ||
      __builtin_mul_overflow(axis.dilation, axis.kernel - 1, &reach)) {
    refuse_size(op);
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

// How many elements as many windows as `size` reach over, `extra` more, without the padding: what windows()
// of the result gives is `size` again.
std::int64_t reached_over(const std::string& op, const WindowAxis& axis, std::int64_t extra) {
  std::int64_t whole = 0;
  std::int64_t reach = 0;
  std::int64_t padding = 0;
  if (__builtin_mul_overflow(axis.stride, axis.size - 1, &whole) ||
      __builtin_mul_overflow(axis.dilation, axis.kernel - 1, &reach) ||
      __builtin_add_overflow(whole, reach, &whole) || __builtin_add_overflow(extra, 1, &extra) ||
      __builtin_add_overflow(whole, extra, &whole) ||
      __builtin_add_overflow(axis.before, axis.after, &padding)) {
    refuse_size(op);
  }
  if (padding >= whole) {
    throw InputError(place(op), fmt::format("padding {} and {} leaves nothing of {} elements", axis.before,
                                            axis.after, whole));
  }
  return whole - padding;
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

// Of the places within a window of this shape: a byte where it has at most 256 of them.
DType index_type(const std::string& op, const Extent& window) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t elements = 1;
  for (const std::int64_t side : window) {
    if (side > kMost / elements) {
      throw InputError(place(op), fmt::format("a window of {} elements has more than 2^31 - 1, the most that "
                                              "an index of 4 bytes tells apart",
                                              fmt::join(window, " x ")));
    }
    elements *= side;
  }
  return elements <= 256 ? DType::uint8 : DType::int32;
}

// The end's padding, where it differs from the begin's.
void add_padding_end(Attributes& attributes, const Windows& w) {
  if (w.after != w.before) attributes["padding_end"] = w.after;
}

Attributes convolution_attributes(const Windows& w, std::int64_t groups) {
  Attributes attributes = {
      {"stride", w.stride}, {"padding", w.before}, {"dilation", w.dilation}, {"groups", groups}};
  add_padding_end(attributes, w);
  return attributes;
}

ValueId convolution(GraphBuilder& g, const std::string& name, const char* kind, std::size_t axes, ValueId x,
                    const ConvOptions& options, bool transposed) {
  g.check_operand(name, x, static_cast<int>(axes) + 2);
  const Windows w = checked(name, axes, options, false);
  const Extent none(axes, 0);
  const Extent extra =
      not_negative(name, "output_padding", per_axis(name, "output_padding", options.output_padding, none));
  check_positive(name, "out_channels", options.out_channels);
  check_positive(name, "groups", options.groups);
  const Shape from = g.shape(x);
  const std::int64_t out = options.out_channels;
  if (from[1] % options.groups != 0 || out % options.groups != 0) {
    throw InputError(place(name), fmt::format("{} groups must divide {} input and {} output channels",
                                              options.groups, from[1], out));
  }
  Shape to = {from[0], out};
  // The transposed one has the weight of the convolution from its output back to its input.
  Shape weight = transposed ? Shape{from[1], out / options.groups} : Shape{out, from[1] / options.groups};
  for (std::size_t i = 0; i < axes; ++i) {
    const WindowAxis axis = w.axis(i, from[i + 2]);
    if (extra[i] > 0 && (!transposed || extra[i] >= std::max(axis.stride, axis.dilation))) {
      throw InputError(place(name), fmt::format("output_padding must be less than the stride or the dilation "
                                                "of a transposed convolution, not {}",
                                                extra[i]));
    }
    to.push_back(transposed ? reached_over(name, axis, extra[i]) : windows(name, axis));
    weight.push_back(axis.kernel);
  }
  std::vector<ValueId> inputs = {x, g.persistent(name, name + ".weight", weight, Persistence::parameter)};
  if (options.bias) inputs.push_back(g.persistent(name, name + ".bias", {out}, Persistence::parameter));
  const ValueId y = g.output(name, name, {to, {}});
  Attributes attributes = convolution_attributes(w, options.groups);
  if (extra != none) attributes["output_padding"] = extra;
  g.append(name, kind, std::move(attributes), std::move(inputs), {y});
  return y;
}

ValueId pool(GraphBuilder& g, const std::string& name, const char* kind, std::size_t axes, ValueId x,
             const PoolOptions& options, bool indices) {
  g.check_operand(name, x, static_cast<int>(axes) + 2);
  const Windows w = checked(name, axes, options, true);
  Shape to = g.shape(x);
  for (std::size_t i = 0; i < axes; ++i) {
    const WindowAxis axis = w.axis(i, to[i + 2]);
    to[i + 2] = windows(name, axis, options.ceil_mode);
    check_pool_padding(name, axis, options.padding_end.empty(), to[i + 2]);
  }
  std::vector<ValueId> outputs = {g.output(name, name, {to, {}})};
  if (indices) outputs.push_back(g.output(name, name + ".indices", {to, {}}, index_type(name, w.kernel)));
  Attributes attributes = {{"kernel", w.kernel}, {"stride", w.stride}, {"padding", w.before}};
  add_padding_end(attributes, w);
  if (w.dilation != Extent(axes, 1)) attributes["dilation"] = w.dilation;
  if (!indices && !options.count_include_pad) attributes["count_include_pad"] = std::int64_t{0};
  g.append(name, kind, std::move(attributes), {x}, outputs);
  return outputs.front();
}

ValueId global_pool(GraphBuilder& g, const std::string& name, const char* kind, ValueId x, bool indices) {
  g.check_operand(name, x);
  Shape to = g.shape(x);
  if (to.size() < 3) {
    throw InputError(place(name), "needs a batch, a channel and at least one more dimension");
  }
  const Extent plane(to.begin() + 2, to.end());
  std::fill(to.begin() + 2, to.end(), 1);
  std::vector<ValueId> outputs = {g.output(name, name, {to, {}})};
  if (indices) {
    (void)index_type(name, plane);  // of a plane, however small, an index takes 4 bytes
    outputs.push_back(g.output(name, name + ".indices", {to, {}}, DType::int32));
  }
  g.append(name, kind, {}, {x}, outputs);
  return outputs.front();
}

}  // namespace

ValueId conv2d(GraphBuilder& g, const std::string& name, ValueId x, const ConvOptions& options) {
  return convolution(g, name, "conv2d", 2, x, options, false);
}

ValueId conv3d(GraphBuilder& g, const std::string& name, ValueId x, const ConvOptions& options) {
  return convolution(g, name, "conv3d", 3, x, options, false);
}

ValueId conv_transpose2d(GraphBuilder& g, const std::string& name, ValueId x, const ConvOptions& options) {
  return convolution(g, name, "conv_transpose2d", 2, x, options, true);
}

ValueId conv_transpose3d(GraphBuilder& g, const std::string& name, ValueId x, const ConvOptions& options) {
  return convolution(g, name, "conv_transpose3d", 3, x, options, true);
}

ValueId max_pool2d(GraphBuilder& g, const std::string& name, ValueId x, const PoolOptions& options) {
  return pool(g, name, "max_pool2d", 2, x, options, true);
}

ValueId max_pool3d(GraphBuilder& g, const std::string& name, ValueId x, const PoolOptions& options) {
  return pool(g, name, "max_pool3d", 3, x, options, true);
}

ValueId avg_pool2d(GraphBuilder& g, const std::string& name, ValueId x, const PoolOptions& options) {
  return pool(g, name, "avg_pool2d", 2, x, options, false);
}

ValueId avg_pool3d(GraphBuilder& g, const std::string& name, ValueId x, const PoolOptions& options) {
  return pool(g, name, "avg_pool3d", 3, x, options, false);
}

ValueId global_avg_pool(GraphBuilder& g, const std::string& name, ValueId x) {
  return global_pool(g, name, "global_avg_pool", x, false);
}

ValueId global_max_pool(GraphBuilder& g, const std::string& name, ValueId x) {
  return global_pool(g, name, "global_max_pool", x, true);
}

}  // namespace poet::nn
