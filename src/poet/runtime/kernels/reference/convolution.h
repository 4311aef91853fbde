#pragma once

// Convolutions as matrix products whose right operand, the elements that every place of the weight meets, is
// gathered panel by panel; or, where a group has few channels, row by row.

#include <array>
#include <cstddef>
#include <vector>

#include "poet/runtime/kernels/reference/windows.h"

namespace poet::runtime {

/// A convolution from x to y. A transposed one is seen as the convolution from its output to its input.
struct Convolution {
  Index images = 1;
  Index groups = 1;
  Index in_channels = 1;   // of x, per group
  Index out_channels = 1;  // of y, per group
  Extents x, y, kernel;
  Extents stride, padding, dilation;

  [[nodiscard]] Index x_plane() const { return volume(x); }
  [[nodiscard]] Index y_plane() const { return volume(y); }
  [[nodiscard]] Index taps() const { return volume(kernel); }
  [[nodiscard]] Index x_channels() const { return groups * in_channels; }
  [[nodiscard]] Index y_channels() const { return groups * out_channels; }
};

/// `x` and `y` are the shapes of what the convolution leads from and to.
[[nodiscard]] Convolution convolution_of(const OpReader& op, const Shape& x, const Shape& weight,
                                         const Shape& y);

/// A place of the weight and the element of the source that it meets at every point of a grid: the one at
/// point * step + offset, or none.
struct Tap {
  Index place = 0;  // in a filter, row-major
  Extents offset{};
  std::array<Reach, 3> reach{};  // the points where there is one, by axis
};

/// All points of a box of one channel, image after image.
struct Grid {
  Extents size{};
  Extents step{};
  Extents source{};        // sizes of a source plane
  Index image_stride = 0;  // of the source
  std::vector<Tap> taps;

  /// What `tap` meets at `count` points from `first` on; `from`: the channel's plane in the first image.
  void gather(const float* from, const Tap& tap, Index first, Index count, float* to) const;
};

/// The points of y; every tap, in order.
[[nodiscard]] Grid windows_grid(const Convolution& c);

/// The points of x with the same remainder `phase` by the strides: those that the same taps reach, which
/// there meet y at consecutive places.
[[nodiscard]] Grid phase_grid(const Convolution& c, const Extents& phase);

}  // namespace poet::runtime
