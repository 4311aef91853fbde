// Convolutions and transposed convolutions.

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/windows.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the kernel of a weight (O, C/groups, kernel...). An attribute of the node must agree with it.
nn::Extent kernel_of(const Node& node, const Shape& x, const Shape& weight) {
  if (weight.size() != spatial_axes(x) + 2) {
    throw InputError(
        fmt::format("the weight must have {} axes, as the input has, not {}", x.size(), weight.size()));
  }
  nn::Extent kernel(weight.begin() + 2, weight.end());
  if (extent(node, "kernel_shape", kernel) != kernel) {
    throw InputError("attribute 'kernel_shape'", "is not the shape of the weight");
  }
  return kernel;
}

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

  nn::Extent extra = extent(node, "output_padding", nn::Extent(axes, 0));
  const std::string how = automatic_padding(node);
  if (node.attributes.contains("output_shape")) {
    pad_to_size(w, extra, x, extent(node, "output_shape", nn::Extent(axes, 0)), how == "SAME_UPPER");
  } else if (how == "SAME_UPPER" || how == "SAME_LOWER") {
    nn::Extent sizes = w.stride;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (__builtin_mul_overflow(sizes[axis], x[axis + 2], &sizes[axis])) sizes[axis] = 0;  // rejected below
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

}  // namespace

const std::vector<OperatorEntry>& convolution_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Conv", conv},
      {"ConvTranspose", conv_transpose},
  };
  return entries;
}

}  // namespace poet::onnx
