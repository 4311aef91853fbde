#pragma once

// Convolutions as products of matrices on row-major tensors, and those of one channel per group as loops over
// planes. No copies into other layouts; the workspace is small.

#include <memory>

#include "poet/runtime/kernels/onednn/sequence.h"
#include "poet/runtime/kernels/onednn/subject.h"

namespace poet::runtime::onednn {

[[nodiscard]] inline bool is_input_gradient(const Subject& subject) {
  return subject.op().kind.ends_with("_backward_input");
}
[[nodiscard]] inline bool is_weight_gradient(const Subject& subject) {
  return subject.op().kind.ends_with("_backward_weight");
}

/// conv2d, conv3d, conv_transpose2d, conv_transpose3d, their backward_input and backward_weight, of any
/// geometry: product of the weight and the matrix of windows.
[[nodiscard]] std::unique_ptr<Kernel> make_convolution_product(const Subject& subject);

/// Adds the loop that sums `from`, which has the shape `dy`, over images and positions into `to`, a number
/// per channel.
void add_bias_gradient(Sequence& sequence, const Shape& dy, BufferId from, BufferId to);

/// One output channel per input channel, two spatial axes.
[[nodiscard]] bool is_depthwise(const Subject& subject);
[[nodiscard]] std::unique_ptr<Kernel> make_depthwise(const Subject& subject);

}  // namespace poet::runtime::onednn
