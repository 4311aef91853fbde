#include <algorithm>
#include <cstring>

#include "poet/runtime/kernels/reference/convolution.h"

namespace poet::runtime {
namespace {

void add_tap(Grid& grid, Index place, const Extents& offset) {
  Tap tap{place, offset, {}};
  for (std::size_t a = 0; a < 3; ++a)
    tap.reach[a] = reach(grid.size[a], grid.step[a], offset[a], grid.source[a]);
  grid.taps.push_back(tap);
}

}  // namespace

Convolution convolution_of(const OpReader& op, const Shape& x, const Shape& weight, const Shape& y) {
  Convolution c;
  c.images = x[0];
  c.groups = op.integer("groups");
  c.in_channels = x[1] / c.groups;
  c.out_channels = y[1] / c.groups;
  c.x = spatial(x);
  c.y = spatial(y);
  c.kernel = spatial(weight);
  c.stride = extents(op, "stride", 1);
  c.padding = extents(op, "padding", 0);
  c.dilation = extents(op, "dilation", 1);
  return c;
}

void Grid::gather(const float* from, const Tap& tap, Index first, Index count, float* to) const {
  const Index plane = volume(size);
  Index image = first / plane;
  Extents at = position_in(size, first % plane);
  const Reach& columns = tap.reach[2];
  while (count > 0) {
    const Index begin = at[2];
    const Index end = std::min(size[2], begin + count);
    const bool inside = at[0] >= tap.reach[0].begin && at[0] < tap.reach[0].end &&
                        at[1] >= tap.reach[1].begin && at[1] < tap.reach[1].end;
    const Index from_column = inside ? std::clamp(columns.begin, begin, end) : end;
    const Index to_column = inside ? std::clamp(columns.end, from_column, end) : end;
    float* const row_to = to - begin;  // of column 0
    for (Index i = begin; i < from_column; ++i) row_to[i] = 0.0F;
    if (from_column < to_column) {
      const Index row = (at[0] * step[0] + tap.offset[0]) * source[1] + at[1] * step[1] + tap.offset[1];
      const float* row_from = from + image * image_stride + row * source[2] + tap.offset[2];
      if (step[2] == 1) {
        for (Index i = from_column; i < to_column; ++i) row_to[i] = row_from[i];
      } else {
        for (Index i = from_column; i < to_column; ++i) row_to[i] = row_from[i * step[2]];
      }
    }
    for (Index i = to_column; i < end; ++i) row_to[i] = 0.0F;
    to += end - begin;
    count -= end - begin;
    at[2] = 0;
    if (++at[1] < size[1]) continue;
    at[1] = 0;
    if (++at[0] < size[0]) continue;
    at[0] = 0;
    ++image;
  }
}

Grid windows_grid(const Convolution& c) {
  Grid grid{c.y, c.stride, c.x, c.x_channels() * c.x_plane(), {}};
  for (Index place = 0; place < c.taps(); ++place) {
    const Extents k = position_in(c.kernel, place);
    Extents offset;
    for (std::size_t a = 0; a < 3; ++a) offset[a] = k[a] * c.dilation[a] - c.padding[a];
    add_tap(grid, place, offset);
  }
  return grid;
}

Grid phase_grid(const Convolution& c, const Extents& phase) {
  Grid grid{{}, {1, 1, 1}, c.y, c.y_channels() * c.y_plane(), {}};
  for (std::size_t a = 0; a < 3; ++a) {
    grid.size[a] = phase[a] < c.x[a] ? (c.x[a] - phase[a] + c.stride[a] - 1) / c.stride[a] : 0;
  }
  for (Index place = 0; place < c.taps(); ++place) {
    const Extents k = position_in(c.kernel, place);
    Extents offset;
    bool meets = true;
    for (std::size_t a = 0; a < 3; ++a) {
      const Index distance = phase[a] + c.padding[a] - k[a] * c.dilation[a];
      meets = meets && distance % c.stride[a] == 0;
      offset[a] = distance / c.stride[a];
    }
    if (meets) add_tap(grid, place, offset);
  }
  return grid;
}

}  // namespace poet::runtime
