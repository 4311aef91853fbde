// Convolution and pooling.

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/operators.h"

namespace poet::onnx {
namespace {

struct Windows {
  Extent2d kernel = {1, 1};
  Extent2d stride = {1, 1};
  Extent2d dilation = {1, 1};
  Extent2d before = {0, 0};
  Extent2d after = {0, 0};
};

Extent2d two(const Node& node, const std::string& attribute, const Extent2d& otherwise) {
  const std::vector<std::int64_t> list = integers(node, attribute, {otherwise[0], otherwise[1]});
  if (list.size() != 2) {
    throw InputError(fmt::format("attribute '{}'", attribute),
                     fmt::format("must have 2 numbers, not {}", list.size()));
  }
  return {list[0], list[1]};
}

/// Padding that makes as many windows as strides fit, rounded up.
void pad_to_same(Windows& w, const Shape& x, bool more_at_end) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t size = x[axis + 2];
    // Sizes that would overflow are refused by the builder.
    if (w.stride[axis] < 1 || w.kernel[axis] < 1 || w.dilation[axis] < 1 || w.kernel[axis] > size + size ||
        w.dilation[axis] > size + size || w.stride[axis] > (std::int64_t{1} << 31)) {
      throw InputError("attribute 'auto_pad'", "the window is not positive, or too large for the input");
    }
    const std::int64_t count = (size - 1) / w.stride[axis] + 1;
    const std::int64_t reach = w.dilation[axis] * (w.kernel[axis] - 1) + 1;
    const std::int64_t all = std::max<std::int64_t>((count - 1) * w.stride[axis] + reach - size, 0);
    w.before[axis] = more_at_end ? all / 2 : all - all / 2;
    w.after[axis] = all - w.before[axis];
  }
}

Windows windows(const Node& node, const Shape& x, const Extent2d& kernel) {
  if (x.size() != 4) {
    throw InputError(fmt::format("only images (N, C, H, W) are supported, not {} dimensions", x.size()));
  }
  Windows w;
  w.kernel = kernel;
  w.stride = two(node, "strides", {1, 1});
  w.dilation = two(node, "dilations", {1, 1});
  const std::string auto_pad = text(node, "auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    pad_to_same(w, x, auto_pad == "SAME_UPPER");
  } else if (auto_pad == "NOTSET") {
    const std::vector<std::int64_t> pads = integers(node, "pads", {0, 0, 0, 0});
    if (pads.size() != 4)
      throw InputError("attribute 'pads'", fmt::format("must have 4 numbers, not {}", pads.size()));
    w.before = {pads[0], pads[1]};
    w.after = {pads[2], pads[3]};
  } else if (auto_pad != "VALID") {
    throw InputError("attribute 'auto_pad'", fmt::format("'{}' is not known", auto_pad));
  }
  return w;
}

void conv(Walk& walk, const Node& node) {
  const Shape weight = walk.shape(node, 1);
  if (weight.size() != 4) {
    throw InputError(fmt::format("only 2-dimensional convolutions are supported, not {}", weight.size() - 2));
  }
  const Windows w = windows(node, walk.shape(node, 0), {weight[2], weight[3]});
  if (const Extent2d stated = two(node, "kernel_shape", w.kernel); stated != w.kernel) {
    throw InputError("attribute 'kernel_shape'", "is not the shape of the weight");
  }
  Conv2dOptions options;
  options.out_channels = weight[0];
  options.kernel = w.kernel;
  options.stride = w.stride;
  options.padding = w.before;
  options.dilation = w.dilation;
  options.groups = integer(node, "group", 1);
  options.bias = walk.has(node, 2);
  if (w.after != w.before) options.padding_end = w.after;
  const std::string name = Walk::name_of(node);
  walk.graph().bind(name + ".weight", walk.weight(node, 1, weight));
  if (options.bias) walk.graph().bind(name + ".bias", walk.weight(node, 2, {weight[0]}));
  walk.set(node, walk.graph().conv2d(name, walk.row_major(node, 0), options));
}

Pool2dOptions pool_options(Walk& walk, const Node& node) {
  if (!node.attributes.contains("kernel_shape")) throw InputError("attribute 'kernel_shape'", "is missing");
  const Windows w = windows(node, walk.shape(node, 0), two(node, "kernel_shape", {1, 1}));
  if (integer(node, "storage_order", 0) != 0)
    throw InputError("attribute 'storage_order'", "must be 0 (row-major)");
  Pool2dOptions options;
  options.kernel = w.kernel;
  options.stride = w.stride;
  options.padding = w.before;
  options.dilation = w.dilation;
  if (w.after != w.before) options.padding_end = w.after;
  options.ceil_mode = integer(node, "ceil_mode", 0) != 0;
  return options;
}

void max_pool(Walk& walk, const Node& node) {
  const Pool2dOptions options = pool_options(walk, node);
  walk.set(node, walk.graph().max_pool2d(Walk::name_of(node), walk.row_major(node, 0), options));
}

void average_pool(Walk& walk, const Node& node) {
  Pool2dOptions options = pool_options(walk, node);
  // Without padding the two ways to divide are one; the builder's default keeps graphs alike.
  const bool padded = options.padding != Extent2d{0, 0} || options.padding_end;
  if (padded || options.ceil_mode) options.count_include_pad = integer(node, "count_include_pad", 0) != 0;
  walk.set(node, walk.graph().avg_pool2d(Walk::name_of(node), walk.row_major(node, 0), options));
}

void global_average_pool(Walk& walk, const Node& node) {
  walk.set(node, walk.graph().global_avg_pool(Walk::name_of(node), walk.row_major(node, 0)));
}

void global_max_pool(Walk& walk, const Node& node) {
  walk.set(node, walk.graph().global_max_pool(Walk::name_of(node), walk.row_major(node, 0)));
}

}  // namespace

const std::vector<OperatorEntry>& window_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"AveragePool", average_pool},      {"Conv", conv},        {"GlobalAveragePool", global_average_pool},
      {"GlobalMaxPool", global_max_pool}, {"MaxPool", max_pool},
  };
  return entries;
}

}  // namespace poet::onnx
