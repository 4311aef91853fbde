// Pooling.

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/windows.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

nn::PoolOptions pool_options(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const nn::Extent ones(spatial_axes(x), 1);
  if (!node.attributes.contains("kernel_shape")) throw InputError("attribute 'kernel_shape'", "is missing");
  nn::PoolOptions options;
  set_windows(options, windows(node, x, extent(node, "kernel_shape", ones)));
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
  // Without padding both divisors are equal; the builder's default gives the same graph for both.
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

const std::vector<OperatorEntry>& pooling_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"AveragePool", average_pool},
      {"GlobalAveragePool", global_average_pool},
      {"GlobalMaxPool", global_max_pool},
      {"MaxPool", max_pool},
  };
  return entries;
}

}  // namespace poet::onnx
