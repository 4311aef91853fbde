#pragma once

// Convolutions of one channel with one plane of weights, on row-major planes: each plane is copied between
// zeros into scratch memory, where rows are read at any offset.

#include <cstdint>

#include "poet/base/units.h"

namespace poet::runtime::onednn {

/// Height and width.
struct Plane {
  std::int64_t x[2];  // the input's sizes
  std::int64_t y[2];
  std::int64_t taps[2];
  std::int64_t stride[2];
  std::int64_t dilation[2];
  std::int64_t padding[2];  // above, on the left
};

/// Numbers of scratch memory for one plane, in any direction.
[[nodiscard]] std::int64_t depthwise_scratch(const Plane& plane);

struct DepthwiseLoops {
  void (*forward)(const Plane& plane, const float* x, const float* weight, float bias, float* y,
                  float* scratch);
  void (*backward_input)(const Plane& plane, const float* dy, const float* weight, float* dx, float* scratch);
  /// Of `images` planes that are `x_stride` and `dy_stride` apart.
  void (*backward_weight)(const Plane& plane, std::int64_t images, const float* x, std::int64_t x_stride,
                          const float* dy, std::int64_t dy_stride, float* dweight, float* scratch);
};

[[nodiscard]] const DepthwiseLoops& depthwise_loops();

}  // namespace poet::runtime::onednn
