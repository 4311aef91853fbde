// Convolution and pooling over one, two or three spatial axes. Over one axis they are those over two, of
// which the first has one element: on views, which cost nothing.

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// One number per spatial axis in each list.
struct Windows {
  nn::Extent kernel;
  nn::Extent stride;
  nn::Extent dilation;
  nn::Extent before;  // padding
  nn::Extent after;
};

std::size_t spatial_axes(const Shape& x) {
  if (x.size() < 3 || x.size() > 5) {
    throw InputError(fmt::format(
        "needs a batch, a channel and 1, 2 or 3 spatial axes, not {} axes in all; reshape before it",
        x.size()));
  }
  return x.size() - 2;
}

nn::Extent list(const Node& node, const std::string& attribute, const nn::Extent& otherwise) {
  nn::Extent given = integers(node, attribute, otherwise);
  if (given.size() != otherwise.size()) {
    throw InputError(fmt::format("attribute '{}'", attribute),
                     fmt::format("must have {} numbers, not {}", otherwise.size(), given.size()));
  }
  return given;
}

/// 'NOTSET', 'VALID', 'SAME_UPPER' or 'SAME_LOWER'.
std::string automatic_padding(const Node& node) {
  std::string how = text(node, "auto_pad", "NOTSET");
  if (how != "NOTSET" && how != "VALID" && how != "SAME_UPPER" && how != "SAME_LOWER") {
    throw InputError("attribute 'auto_pad'", fmt::format("'{}' is not known", how));
  }
  return how;
}

/// Sizes of which what is computed below fits 64 bits. What else is wrong with them the builder says.
void check_sizes(const char* attribute, const Windows& w) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const auto fits = [](std::int64_t number) { return number >= 1 && number <= most; };
  for (const nn::Extent* extent : {&w.kernel, &w.stride, &w.dilation}) {
    if (std::all_of(extent->begin(), extent->end(), fits)) continue;
    throw InputError(fmt::format("attribute '{}'", attribute),
                     "the window is not positive, or too large for the input");
  }
}

std::int64_t reach(const Windows& w, std::size_t axis) { return w.dilation[axis] * (w.kernel[axis] - 1) + 1; }

void split_padding(Windows& w, std::size_t axis, std::int64_t all, bool more_at_end) {
  w.before[axis] = more_at_end ? all / 2 : all - all / 2;
  w.after[axis] = all - w.before[axis];
}

/// Padding that makes as many windows as strides fit, rounded up.
void pad_to_same(Windows& w, const Shape& x, bool more_at_end) {
  check_sizes("auto_pad", w);
  for (std::size_t axis = 0; axis < w.kernel.size(); ++axis) {
    const std::int64_t size = x[axis + 2];
    const std::int64_t to_last = (size - 1) / w.stride[axis] * w.stride[axis];
    split_padding(w, axis, std::max<std::int64_t>(to_last + reach(w, axis) - size, 0), more_at_end);
  }
}

void given_padding(Windows& w, const Node& node) {
  const std::size_t axes = w.kernel.size();
  const nn::Extent pads = list(node, "pads", nn::Extent(2 * axes, 0));
  w.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  w.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
}

/// All but the padding.
Windows unpadded(const Node& node, const nn::Extent& kernel) {
  const std::size_t axes = kernel.size();
  const nn::Extent ones(axes, 1);
  return {kernel, list(node, "strides", ones), list(node, "dilations", ones), nn::Extent(axes, 0),
          nn::Extent(axes, 0)};
}

Windows windows(const Node& node, const Shape& x, const nn::Extent& kernel) {
  Windows w = unpadded(node, kernel);
  const std::string how = automatic_padding(node);
  if (how == "SAME_UPPER" || how == "SAME_LOWER") {
    pad_to_same(w, x, how == "SAME_UPPER");
  } else if (how == "NOTSET") {
    given_padding(w, node);
  }
  return w;
}

/// The kernel of a weight (O, C/groups, kernel...), which the node may state once more.
nn::Extent kernel_of(const Node& node, const Shape& x, const Shape& weight) {
  if (weight.size() != spatial_axes(x) + 2) {
    throw InputError(
        fmt::format("the weight must have {} axes, as the input has, not {}", x.size(), weight.size()));
  }
  nn::Extent kernel(weight.begin() + 2, weight.end());
  if (list(node, "kernel_shape", kernel) != kernel) {
    throw InputError("attribute 'kernel_shape'", "is not the shape of the weight");
  }
  return kernel;
}

// ---- one axis as two

nn::Extent as_plane(nn::Extent extent, std::int64_t number) {
  if (extent.size() == 1) extent.insert(extent.begin(), number);
  return extent;
}

Shape as_plane(Shape shape) {
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return shape;
}

/// The first input, as a view where it has one spatial axis.
ValueId image(Lowering& net, const Node& node) {
  const ValueId x = row_major(net, node, 0);
  const Shape shape = net.builder.shape(x);
  if (shape.size() != 3) return x;
  return nn::reshape(net.builder, name_of(node) + ".plane", x, as_plane(shape));
}

/// The result, as a view where the first input has one spatial axis.
void set_image(Lowering& net, const Node& node, ValueId y) {
  if (shape_of(net, node, 0).size() == 3) {
    const Shape shape = net.builder.shape(y);
    y = nn::reshape(net.builder, name_of(node) + ".line", y, {shape[0], shape[1], shape[3]});
  }
  set_result(net, node, y);
}

template <class Options>
void set_windows(Options& options, const Windows& w) {
  options.kernel = as_plane(w.kernel, 1);
  options.stride = as_plane(w.stride, 1);
  options.padding = as_plane(w.before, 0);
  options.dilation = as_plane(w.dilation, 1);
  options.padding_end = as_plane(w.after, 0);
}

// ---- the rules

void bind_weights(Lowering& net, const Node& node, const nn::ConvOptions& options) {
  const std::string name = name_of(node);
  net.builder.bind(name + ".weight", weight_of(net, node, 1, as_plane(shape_of(net, node, 1))));
  if (options.bias) net.builder.bind(name + ".bias", weight_of(net, node, 2, {options.out_channels}));
}

void conv(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const Shape weight = shape_of(net, node, 1);
  nn::ConvOptions options;
  set_windows(options, windows(node, x, kernel_of(node, x, weight)));
  options.out_channels = weight[0];
  options.groups = integer(node, "group", 1);
  options.bias = has_input(node, 2);
  bind_weights(net, node, options);
  GraphBuilder& g = net.builder;
  const ValueId in = image(net, node);
  const std::string name = name_of(node);
  set_image(net, node,
            spatial_axes(x) == 3 ? nn::conv3d(g, name, in, options) : nn::conv2d(g, name, in, options));
}

/// The padding with which the output has the size that is asked for. Where it is larger than what the windows
/// reach over, there are elements more at its end.
void pad_to_size(Windows& w, nn::Extent& extra, const Shape& x, const nn::Extent& sizes, bool more_at_end) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  check_sizes("output_shape", w);
  for (std::size_t axis = 0; axis < w.kernel.size(); ++axis) {
    std::int64_t whole = 0;
    if (__builtin_mul_overflow(w.stride[axis], x[axis + 2] - 1, &whole) || whole > most || extra[axis] < 0 ||
        extra[axis] > most || sizes[axis] < 1 || sizes[axis] > most) {
      throw InputError("attribute 'output_shape'", "is not positive, or too large");
    }
    const std::int64_t all = whole + reach(w, axis) + extra[axis] - sizes[axis];
    if (all < 0) extra[axis] -= all;
    split_padding(w, axis, std::max<std::int64_t>(all, 0), more_at_end);
  }
}

void conv_transpose(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const Shape weight = shape_of(net, node, 1);  // (C, O/groups, kernel...)
  Windows w = unpadded(node, kernel_of(node, x, weight));
  const std::size_t axes = w.kernel.size();
  nn::ConvOptions options;
  options.groups = integer(node, "group", 1);
  if (options.groups < 1 || weight[0] % options.groups != 0) {
    throw InputError("attribute 'group'",
                     fmt::format("{} groups must divide {} input channels", options.groups, weight[0]));
  }
  options.out_channels = weight[1] * options.groups;
  options.bias = has_input(node, 2);

  nn::Extent extra = list(node, "output_padding", nn::Extent(axes, 0));
  const std::string how = automatic_padding(node);
  if (node.attributes.contains("output_shape")) {
    pad_to_size(w, extra, x, list(node, "output_shape", nn::Extent(axes, 0)), how == "SAME_UPPER");
  } else if (how == "SAME_UPPER" || how == "SAME_LOWER") {
    nn::Extent sizes = w.stride;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (__builtin_mul_overflow(sizes[axis], x[axis + 2], &sizes[axis])) sizes[axis] = 0;  // is refused
    }
    pad_to_size(w, extra, x, sizes, how == "SAME_UPPER");
  } else if (how == "NOTSET") {
    given_padding(w, node);
  }
  set_windows(options, w);
  options.output_padding = as_plane(extra, 0);
  bind_weights(net, node, options);
  GraphBuilder& g = net.builder;
  const ValueId in = image(net, node);
  const std::string name = name_of(node);
  set_image(
      net, node,
      axes == 3 ? nn::conv_transpose3d(g, name, in, options) : nn::conv_transpose2d(g, name, in, options));
}

nn::PoolOptions pool_options(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const nn::Extent ones(spatial_axes(x), 1);
  if (!node.attributes.contains("kernel_shape")) throw InputError("attribute 'kernel_shape'", "is missing");
  nn::PoolOptions options;
  set_windows(options, windows(node, x, list(node, "kernel_shape", ones)));
  options.ceil_mode = integer(node, "ceil_mode", 0) != 0;
  return options;
}

void max_pool(Lowering& net, const Node& node) {
  if (is_read(net.uses, node, 1)) {
    throw InputError(
        fmt::format("output 1 ('{}')", node.outputs[1]),
        "poet's indices are places in a window, for the gradient alone; replace what reads them, "
        "an unpooling by ConvTranspose or Resize");
  }
  const nn::PoolOptions options = pool_options(net, node);
  GraphBuilder& g = net.builder;
  const ValueId x = image(net, node);
  const std::string name = name_of(node);
  set_image(
      net, node,
      options.kernel.size() == 3 ? nn::max_pool3d(g, name, x, options) : nn::max_pool2d(g, name, x, options));
}

void average_pool(Lowering& net, const Node& node) {
  nn::PoolOptions options = pool_options(net, node);
  // Without padding the two ways to divide are one; the builder's default keeps graphs alike.
  const nn::Extent none(options.kernel.size(), 0);
  if (options.padding != none || options.padding_end != none || options.ceil_mode) {
    options.count_include_pad = integer(node, "count_include_pad", 0) != 0;
  }
  GraphBuilder& g = net.builder;
  const ValueId x = image(net, node);
  const std::string name = name_of(node);
  set_image(
      net, node,
      options.kernel.size() == 3 ? nn::avg_pool3d(g, name, x, options) : nn::avg_pool2d(g, name, x, options));
}

void global_average_pool(Lowering& net, const Node& node) {
  set_result(net, node, nn::global_avg_pool(net.builder, name_of(node), row_major(net, node, 0)));
}

void global_max_pool(Lowering& net, const Node& node) {
  set_result(net, node, nn::global_max_pool(net.builder, name_of(node), row_major(net, node, 0)));
}

}  // namespace

const std::vector<OperatorEntry>& window_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"AveragePool", average_pool},      {"Conv", conv},
      {"ConvTranspose", conv_transpose},  {"GlobalAveragePool", global_average_pool},
      {"GlobalMaxPool", global_max_pool}, {"MaxPool", max_pool},
  };
  return entries;
}

}  // namespace poet::onnx
