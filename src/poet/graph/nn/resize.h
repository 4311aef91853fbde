#pragma once

// Images of another size.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/builder.h"

namespace poet::nn {

/// Which elements of the input an element of the output is made of, as ONNX's Resize says it.
struct ResizeOptions {
  std::string mode = "nearest";  // nearest, linear, cubic
  // half_pixel, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";  // or round_prefer_ceil, floor, ceil
  double cubic_a = -0.75;
  bool exclude_outside = false;     // cubic: elements outside have no weight, instead of the border's value
  std::vector<double> scales = {};  // per spatial axis; empty: size of the output / size of the input
};

/// x (N,C,...) with `sizes` in place of its one to three spatial axes.
ValueId resize(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& sizes,
               const ResizeOptions& options = {});

}  // namespace poet::nn
