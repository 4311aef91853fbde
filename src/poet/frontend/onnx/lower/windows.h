#pragma once

// Windows of convolutions and pooling over one, two or three spatial axes. Over one axis they are those over
// two, of which the first has one element: on views, which cost nothing.

#include <cstddef>
#include <cstdint>
#include <string>

#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/graph/nn.h"

namespace poet::onnx {

/// One number per spatial axis in each list.
struct Windows {
  nn::Extent kernel;
  nn::Extent stride;
  nn::Extent dilation;
  nn::Extent before;  // padding
  nn::Extent after;
};

/// 1, 2 or 3; throws InputError where there are others.
[[nodiscard]] std::size_t spatial_axes(const Shape& x);

/// An attribute with as many numbers as `otherwise`, which it is where it is missing.
[[nodiscard]] nn::Extent extent(const Node& node, const std::string& attribute, const nn::Extent& otherwise);

/// 'NOTSET', 'VALID', 'SAME_UPPER' or 'SAME_LOWER'.
[[nodiscard]] std::string automatic_padding(const Node& node);

/// As the node states them, for an input x.
[[nodiscard]] Windows windows(const Node& node, const Shape& x, const nn::Extent& kernel);
/// All but the padding.
[[nodiscard]] Windows unpadded(const Node& node, const nn::Extent& kernel);
/// The padding of 'pads'.
void given_padding(Windows& w, const Node& node);
/// Of a transposed convolution: the padding with which the output has the size that is asked for. Where it is
/// larger than what the windows reach over, there are elements more at its end.
void pad_to_size(Windows& w, nn::Extent& extra, const Shape& x, const nn::Extent& sizes, bool more_at_end);

// One axis as two.

/// `number` before a single one.
[[nodiscard]] nn::Extent as_plane(nn::Extent extent, std::int64_t number);
/// (N, C, 1, W) of (N, C, W).
[[nodiscard]] Shape as_plane(Shape shape);
/// The first input, as a view where it has one spatial axis.
[[nodiscard]] ValueId image(Lowering& net, const Node& node);
/// The result, as a view where the first input has one spatial axis.
void set_image(Lowering& net, const Node& node, ValueId y);

/// Of nn::ConvOptions and nn::PoolOptions.
template <class Options>
void set_windows(Options& options, const Windows& w) {
  options.kernel = as_plane(w.kernel, 1);
  options.stride = as_plane(w.stride, 1);
  options.padding = as_plane(w.before, 0);
  options.dilation = as_plane(w.dilation, 1);
  options.padding_end = as_plane(w.after, 0);
}

}  // namespace poet::onnx
