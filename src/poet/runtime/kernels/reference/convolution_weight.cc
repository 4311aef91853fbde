// The gradients of the weight and the bias.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "poet/runtime/kernels/reference/convolution_kernels.h"
#include "poet/runtime/kernels/reference/convolution_loops.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

void weight_product(const Convolution& c, const Grid& grid, const float* dy, const float* x, bool add,
                    float* dweight, gemm::Panel size, float* panel) {
  const Index taps = c.taps();
  const Index plane = c.y_plane();
  const Index filter = c.in_channels * taps;
  for (Index g = 0; g < c.groups; ++g) {
    const float* group_dy = dy + g * c.out_channels * plane;
    const float* group_x = x + g * c.in_channels * c.x_plane();
    gemm::Product p{c.out_channels, filter, c.images * plane};
    p.add = add;
    p.panel = size;
    gemm::multiply(
        p,
        [&](const gemm::LeftPanel& to) {
          for (Index r = 0; r < gemm::kRows; ++r) {
            float* at = to.to + r;
            if (r >= to.rows) {
              for (Index k = 0; k < to.depth; ++k) at[k * gemm::kRows] = 0.0F;
              continue;
            }
            for (Index k = 0; k < to.depth;) {
              const Index image = (to.first + k) / plane;
              const Index point = (to.first + k) % plane;
              const Index run = std::min(to.depth - k, plane - point);
              const float* from = group_dy + (image * c.y_channels() + to.row + r) * plane + point;
              for (Index i = 0; i < run; ++i) at[(k + i) * gemm::kRows] = from[i];
              k += run;
            }
          }
        },
        [&](const gemm::RightPanel& to) {
          std::array<float, kGathered> column;
          for (Index j = 0; j < to.columns; ++j) {
            const Index channel = (to.column + j) / taps;
            const Tap& tap = grid.taps[static_cast<std::size_t>((to.column + j) % taps)];
            grid.gather(group_x + channel * c.x_plane(), tap, to.first, to.depth, column.data());
            to.set_column(j, column.data());
          }
        },
        dweight + g * c.out_channels * filter, [filter](Index o) { return o * filter; },
        [](Index k) { return k; }, panel);
  }
}

/// One row of y: sum[t] += gradient[i] * from[t][i * step] for i in [begin, end), each sum in order.
template <std::size_t taps>
void add_row(const float* gradient, const std::array<const float*, taps>& from, Index step, Index begin,
             Index end, const std::array<float*, taps>& sum) {
  std::array<float, taps> own;  // in registers, side by side
  for (std::size_t t = 0; t < taps; ++t) own[t] = *sum[t];
  for (Index i = begin; i < end; ++i) {
    for (std::size_t t = 0; t < taps; ++t) own[t] += gradient[i] * from[t][i * step];
  }
  for (std::size_t t = 0; t < taps; ++t) *sum[t] = own[t];
}

/// The taps of one row of y that meet x there, and where their sums are.
struct RowTaps {
  std::vector<const float*> from;  // of column 0
  std::vector<Reach> columns;
  std::vector<float*> sum;
  std::size_t count = 0;
};

template <std::size_t taps>
void add_taps(const RowTaps& row, std::size_t& first, const float* gradient, Index step) {
  for (; first + taps <= row.count; first += taps) {
    std::array<const float*, taps> from;
    std::array<float*, taps> sum;
    Index begin = 0;
    Index end = std::numeric_limits<Index>::max();
    for (std::size_t t = 0; t < taps; ++t) {
      from[t] = row.from[first + t];
      sum[t] = row.sum[first + t];
      begin = std::max(begin, row.columns[first + t].begin);
      end = std::min(end, row.columns[first + t].end);
    }
    end = std::max(begin, end);
    // Columns that not all of them meet are before and behind.
    const auto one = [&](std::size_t t, Index b, Index e) {
      if (b < e) add_row<1>(gradient, {from[t]}, step, b, e, {sum[t]});
    };
    for (std::size_t t = 0; t < taps; ++t)
      one(t, row.columns[first + t].begin, std::min(begin, row.columns[first + t].end));
    add_row<taps>(gradient, from, step, begin, end, sum);
    for (std::size_t t = 0; t < taps; ++t)
      one(t, std::max(end, row.columns[first + t].begin), row.columns[first + t].end);
  }
}

/// As weight_product, in the same order: image by image, row by row.
void weight_rows(const Convolution& c, const Grid& grid, const float* dy, const float* x, bool add,
                 float* dweight, RowTaps& row) {
  if (!add) std::fill_n(dweight, c.y_channels() * c.in_channels * c.taps(), 0.0F);
  for (Index o = 0; o < c.y_channels(); ++o) {
    for (Index i = 0; i < c.in_channels; ++i) {
      float* to = dweight + (o * c.in_channels + i) * c.taps();
      const Index in = o / c.out_channels * c.in_channels + i;
      for (Index n = 0; n < c.images; ++n) {
        const float* from = x + (n * c.x_channels() + in) * c.x_plane();
        const float* gradient = dy + (n * c.y_channels() + o) * c.y_plane();
        for (Index d = 0; d < c.y[0]; ++d) {
          for (Index h = 0; h < c.y[1]; ++h, gradient += c.y[2]) {
            row.count = 0;
            for (const Tap& tap : grid.taps) {
              const bool meets = d >= tap.reach[0].begin && d < tap.reach[0].end && h >= tap.reach[1].begin &&
                                 h < tap.reach[1].end;
              if (!meets) continue;
              const Index at = (d * c.stride[0] + tap.offset[0]) * c.x[1] + h * c.stride[1] + tap.offset[1];
              row.from[row.count] = from + at * c.x[2] + tap.offset[2];
              row.columns[row.count] = tap.reach[2];
              row.sum[row.count++] = to + tap.place;
            }
            std::size_t first = 0;
            add_taps<9>(row, first, gradient, c.stride[2]);
            add_taps<3>(row, first, gradient, c.stride[2]);
            add_taps<1>(row, first, gradient, c.stride[2]);
          }
        }
      }
    }
  }
}

/// Image after image, so that a part of the batch can go on where another has stopped.
void sum_channels(const float* from, Index images, Index channels, Index plane, bool add, float* to) {
  for (Index c = 0; c < channels; ++c) {
    if (!add) to[c] = 0.0F;
    for (Index n = 0; n < images; ++n) {
      const float* at = from + (n * channels + c) * plane;
      to[c] = static_cast<float>(static_cast<double>(to[c]) + sum_of(plane, [at](Index i) { return at[i]; }));
    }
  }
}

}  // namespace

std::unique_ptr<Kernel> towards_weight(const OpReader& op, const Convolution& c, bool x_first) {
  const Grid grid = windows_grid(c);
  const bool few = c.out_channels <= kFewChannels;
  const gemm::Panel size = gemm::panel_of(op, c.in_channels * c.taps(), c.images * c.y_plane());
  RowTaps row;
  row.from.resize(grid.taps.size());
  row.columns.resize(grid.taps.size());
  row.sum.resize(grid.taps.size());
  const int weight = op.gradient(1, {1, 2});
  const int bias = op.gradient(2, {1, 2});
  const Index channels = x_first ? c.x_channels() : c.y_channels();
  const Index plane = x_first ? c.x_plane() : c.y_plane();
  const std::array<int, 2> accumulators = {op.accumulator(0), op.accumulator(1)};
  const Index weights = op.out_count(0);
  return loop_kernel(
      [=](const KernelCall& call) mutable {
        const float* x = input(call, x_first ? 0 : 1);
        const float* y = input(call, x_first ? 1 : 0);
        if (weight >= 0) {
          const auto at = static_cast<std::size_t>(weight);
          const bool add = goes_on(call, accumulators[at], at, weights);
          if (few) {
            weight_rows(c, grid, y, x, add, output(call, at), row);
          } else {
            weight_product(c, grid, y, x, add, output(call, at), size, static_cast<float*>(call.workspace));
          }
        }
        if (bias >= 0) {
          const auto at = static_cast<std::size_t>(bias);
          const bool add = goes_on(call, accumulators[at], at, channels);
          sum_channels(input(call, 0), c.images, channels, plane, add, output(call, at));
        }
      },
      few ? Bytes(0) : gemm::workspace(c.in_channels * c.taps(), c.images * c.y_plane(), size));
}

std::unique_ptr<Kernel> towards_bias(const OpReader& op) {
  const Index images = op.in(0)[0];
  const Index channels = op.in(0)[1];
  const Index plane = volume(spatial(op.in(0)));
  return loop_kernel([=, accumulator = op.accumulator(0)](const KernelCall& call) {
    const bool add = goes_on(call, accumulator, 0, channels);
    sum_channels(input(call, 0), images, channels, plane, add, output(call, 0));
  });
}

}  // namespace poet::runtime
