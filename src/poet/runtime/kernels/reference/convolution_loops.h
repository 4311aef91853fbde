#pragma once

// What the products and the loops over rows of convolutions share.

#include <algorithm>
#include <array>
#include <cstddef>

#include "poet/runtime/kernels/reference/convolution.h"
#include "poet/runtime/kernels/reference/gemm.h"

namespace poet::runtime {

/// With fewer channels in a group's result, tiles of it would be mostly empty.
inline constexpr Index kFewChannels = 3;

/// As many elements of one row or column of a panel are gathered at a time.
inline constexpr Index kGathered = std::max(gemm::kWidth, gemm::kDepth);

/// Fills the panel of a group's elements: its rows are, channel by channel, those that each tap of the grid
/// meets. `from`: the planes of the group's channels in the first image, each of size `plane`.
inline void gather_rows(const Grid& grid, const float* from, Index plane, const gemm::RightPanel& to) {
  const auto taps = static_cast<Index>(grid.taps.size());
  std::array<float, kGathered> row;
  row.fill(0.0F);
  for (Index k = 0; k < to.depth; ++k) {
    const Index channel = (to.first + k) / taps;
    const Tap& tap = grid.taps[static_cast<std::size_t>((to.first + k) % taps)];
    grid.gather(from + channel * plane, tap, to.column, to.columns, row.data());
    to.set_row(k, row.data());
  }
}

/// Calls f(row of y, row of x, first column, last column) wherever `tap` meets rows of one image; x's row is
/// at its column for column 0 of y.
template <class F>
void for_each_row(const Convolution& c, const Tap& tap, const F& f) {
  for (Index d = tap.reach[0].begin; d < tap.reach[0].end; ++d) {
    for (Index h = tap.reach[1].begin; h < tap.reach[1].end; ++h) {
      const Index row = (d * c.stride[0] + tap.offset[0]) * c.x[1] + h * c.stride[1] + tap.offset[1];
      f((d * c.y[1] + h) * c.y[2], row * c.x[2] + tap.offset[2], tap.reach[2].begin, tap.reach[2].end);
    }
  }
}

/// A plane of x and a plane of y that a filter joins.
struct PlanePair {
  Index x = 0;  // counted from the first image's first plane
  Index y = 0;  // likewise
  Index filter = 0;
  bool is_first = false;  // of the pairs of the result's plane
};

/// Whose planes are the result.
enum class Planes { of_x, of_y };

/// Calls f(pair) for every pair of planes that a filter joins, those of one plane of the result in
/// succession.
template <class F>
void for_each_pair(const Convolution& c, Planes result, const F& f) {
  const bool by_x = result == Planes::of_x;
  const Index outer = by_x ? c.in_channels : c.out_channels;
  const Index inner = by_x ? c.out_channels : c.in_channels;
  for (Index n = 0; n < c.images; ++n) {
    for (Index g = 0; g < c.groups; ++g) {
      for (Index i = 0; i < outer; ++i) {
        for (Index k = 0; k < inner; ++k) {
          const Index out = g * c.out_channels + (by_x ? k : i);
          const Index in = by_x ? i : k;
          f(PlanePair{.x = n * c.x_channels() + g * c.in_channels + in,
                      .y = n * c.y_channels() + out,
                      .filter = out * c.in_channels + in,
                      .is_first = k == 0});
        }
      }
    }
  }
}

}  // namespace poet::runtime
