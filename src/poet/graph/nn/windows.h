#pragma once

// Convolutions and pools: x is (N,C,H,W), of the 3-d ones (N,C,D,H,W).

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/builder.h"

namespace poet::nn {

/// One number per spatial axis: height and width, or depth, height and width.
using Extent = std::vector<std::int64_t>;

/// Lists left empty have the default along every axis.
struct ConvOptions {
  std::int64_t out_channels = 1;
  Extent kernel = {};    // 1
  Extent stride = {};    // 1
  Extent padding = {};   // 0
  Extent dilation = {};  // 1
  std::int64_t groups = 1;
  bool bias = false;
  Extent padding_end = {};  // at the end of each axis; empty: as at its begin, `padding`
  // Transposed convolutions alone: elements more at the end of each axis, fewer than the stride or the
  // dilation. Of the sizes from which a convolution leads to that of x it chooses another one than the least.
  Extent output_padding = {};  // 0
};

/// Lists left empty have the default along every axis.
struct PoolOptions {
  Extent kernel = {};             // 2
  Extent stride = {};             // as the kernel
  Extent padding = {};            // 0
  Extent dilation = {};           // 1
  Extent padding_end = {};        // at the end of each axis; empty: as at its begin, `padding`
  bool ceil_mode = false;         // one more window where the last one would leave elements over
  bool count_include_pad = true;  // average: padding counts in the divisor
};

/// By NAME.weight (out_channels, C/groups, kernel...), plus NAME.bias.
ValueId conv2d(GraphBuilder& g, const std::string& name, ValueId x, const ConvOptions& options);
ValueId conv3d(GraphBuilder& g, const std::string& name, ValueId x, const ConvOptions& options);
/// The gradient of a convolution as a forward operator: every element of x, times the weight (C,
/// out_channels/groups, kernel...), is added to one window of the output.
ValueId conv_transpose2d(GraphBuilder& g, const std::string& name, ValueId x, const ConvOptions& options);
ValueId conv_transpose3d(GraphBuilder& g, const std::string& name, ValueId x, const ConvOptions& options);
/// An index is a byte where a window has at most 256 elements, else an int32.
ValueId max_pool2d(GraphBuilder& g, const std::string& name, ValueId x, const PoolOptions& options);
ValueId max_pool3d(GraphBuilder& g, const std::string& name, ValueId x, const PoolOptions& options);
ValueId avg_pool2d(GraphBuilder& g, const std::string& name, ValueId x, const PoolOptions& options);
ValueId avg_pool3d(GraphBuilder& g, const std::string& name, ValueId x, const PoolOptions& options);
/// Over all of (N,C,...) but the first two axes, which stay as axes of size 1.
ValueId global_avg_pool(GraphBuilder& g, const std::string& name, ValueId x);
ValueId global_max_pool(GraphBuilder& g, const std::string& name, ValueId x);

}  // namespace poet::nn
