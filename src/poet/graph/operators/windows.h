#pragma once

// Windows over spatial axes, for convolutions and pools. Private to graph/operators.

#include <limits>
#include <vector>

#include "poet/graph/operators/checker.h"

namespace poet::operators {

/// Of strides, paddings and dilations, so that no product of them overflows.
inline constexpr Index kMostSteps = Index{1} << 20;
/// Of the sizes of images, weights and windows.
inline constexpr Index kMostSize = std::numeric_limits<std::int32_t>::max();
/// Places of one window of a pool.
inline constexpr Index kMostPlaces = Index{1} << 24;

struct WindowAxis {
  Index kernel, stride, before, after, dilation;

  /// How far a window's last place is from its first.
  [[nodiscard]] Index reach() const { return dilation * (kernel - 1); }
};

/// The windows of an op, axis by axis; `kernel`: their sizes.
[[nodiscard]] std::vector<WindowAxis> windows_of(const Checker& op, const std::vector<Index>& kernel,
                                                 bool pool);

/// Of `axes` spatial axes, of sizes up to kMostSize.
void need_image(const Checker& op, const char* what, const Shape& shape, std::size_t axes);

/// How many windows fit in an axis of `size`, the last one whole.
[[nodiscard]] Index windows_in(const Checker& op, Index size, const WindowAxis& w);

}  // namespace poet::operators
