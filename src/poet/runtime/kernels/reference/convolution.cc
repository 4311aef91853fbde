#include "poet/runtime/kernels/reference/convolution.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/gemm.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

/// With fewer channels in a group's result, tiles of it would be mostly empty.
constexpr Index kFewChannels = 3;

constexpr Index kGathered = std::max(gemm::kWidth, gemm::kDepth);

// ---- y from x

void forward_product(const Convolution& c, const Grid& grid, const float* x, const float* weight,
                     const float* bias, bool add, float* y, gemm::Panel size, float* panel) {
  const Index taps = c.taps();
  const Index plane = c.y_plane();
  for (Index g = 0; g < c.groups; ++g) {
    const float* group_x = x + g * c.in_channels * c.x_plane();
    const float* group_weight = weight + g * c.out_channels * c.in_channels * taps;
    gemm::Product p{c.out_channels, c.images * plane, c.in_channels * taps};
    p.add = add;
    p.panel = size;
    if (bias != nullptr) p.of_row = bias + g * c.out_channels;
    gemm::multiply(
        p, [&](const gemm::LeftPanel& to) { to.copy(group_weight, c.in_channels * taps, 1); },
        [&](const gemm::RightPanel& to) {
          std::array<float, kGathered> row;
          row.fill(0.0F);
          for (Index k = 0; k < to.depth; ++k) {
            const Index channel = (to.first + k) / taps;
            const Tap& tap = grid.taps[static_cast<std::size_t>((to.first + k) % taps)];
            grid.gather(group_x + channel * c.x_plane(), tap, to.column, to.columns, row.data());
            to.set_row(k, row.data());
          }
        },
        y + g * c.out_channels * plane, [plane](Index o) { return o * plane; },
        [&](Index point) { return point / plane * c.y_channels() * plane + point % plane; }, panel);
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

/// Calls f(image, output channel, plane of x, filter) for every pair of planes that a filter joins, the
/// planes of y in order or, `by_x`, those of x.
template <class F>
void for_each_filter(const Convolution& c, bool by_x, const F& f) {
  const Index outer = by_x ? c.in_channels : c.out_channels;
  const Index inner = by_x ? c.out_channels : c.in_channels;
  for (Index n = 0; n < c.images; ++n) {
    for (Index g = 0; g < c.groups; ++g) {
      for (Index i = 0; i < outer; ++i) {
        for (Index k = 0; k < inner; ++k) {
          const Index out = g * c.out_channels + (by_x ? k : i);
          const Index in = by_x ? i : k;
          f(n * c.x_channels() + g * c.in_channels + in, n * c.y_channels() + out, out * c.in_channels + in,
            k == 0);
        }
      }
    }
  }
}

void forward_rows(const Convolution& c, const Grid& grid, const float* x, const float* weight,
                  const float* bias, bool add, float* y) {
  for_each_filter(c, false, [&](Index x_plane, Index y_plane, Index filter, bool first) {
    const float* from = x + x_plane * c.x_plane();
    float* to = y + y_plane * c.y_plane();
    if (first && !add) std::fill_n(to, c.y_plane(), bias != nullptr ? bias[y_plane % c.y_channels()] : 0.0F);
    for (const Tap& tap : grid.taps) {
      const float factor = weight[filter * c.taps() + tap.place];
      for_each_row(c, tap, [&](Index y_row, Index x_row, Index begin, Index end) {
        float* __restrict out = to + y_row;
        const float* __restrict in = from + x_row;
        if (c.stride[2] == 1) {
          for (Index i = begin; i < end; ++i) out[i] += factor * in[i];
        } else {
          for (Index i = begin; i < end; ++i) out[i] += factor * in[i * c.stride[2]];
        }
      });
    }
  });
}

// ---- the gradient of x, or the result of a transposed convolution

void backward_product(const Convolution& c, const Grid& grid, const Extents& phase, const float* dy,
                      const float* weight, const float* bias, bool add, float* dx, gemm::Panel size,
                      float* panel) {
  const auto taps = static_cast<Index>(grid.taps.size());
  const Index points = volume(grid.size);
  if (points == 0) return;
  for (Index g = 0; g < c.groups; ++g) {
    const float* group_dy = dy + g * c.out_channels * c.y_plane();
    const float* group_weight = weight + g * c.out_channels * c.in_channels * c.taps();
    gemm::Product p{c.in_channels, c.images * points, c.out_channels * taps};
    p.add = add;
    p.panel = size;
    if (bias != nullptr) p.of_row = bias + g * c.in_channels;
    gemm::multiply(
        p,
        [&](const gemm::LeftPanel& to) {
          for (Index k = 0; k < to.depth; ++k) {
            const Index channel = (to.first + k) / taps;
            const Tap& tap = grid.taps[static_cast<std::size_t>((to.first + k) % taps)];
            const float* from = group_weight + (channel * c.in_channels + to.row) * c.taps() + tap.place;
            for (Index r = 0; r < gemm::kRows; ++r) {
              to.to[k * gemm::kRows + r] = r < to.rows ? from[r * c.taps()] : 0.0F;
            }
          }
        },
        [&](const gemm::RightPanel& to) {
          std::array<float, kGathered> row;
          row.fill(0.0F);
          for (Index k = 0; k < to.depth; ++k) {
            const Index channel = (to.first + k) / taps;
            const Tap& tap = grid.taps[static_cast<std::size_t>((to.first + k) % taps)];
            grid.gather(group_dy + channel * c.y_plane(), tap, to.column, to.columns, row.data());
            to.set_row(k, row.data());
          }
        },
        dx + g * c.in_channels * c.x_plane(), [&](Index i) { return i * c.x_plane(); },
        [&](Index point) {
          const Extents at = position_in(grid.size, point % points);
          Index place = 0;
          for (std::size_t a = 0; a < 3; ++a) place = place * c.x[a] + phase[a] + at[a] * c.stride[a];
          return point / points * c.x_channels() * c.x_plane() + place;
        },
        panel);
  }
}

void backward_rows(const Convolution& c, const Grid& grid, const float* dy, const float* weight,
                   const float* bias, bool add, float* dx) {
  for_each_filter(c, true, [&](Index x_plane, Index y_plane, Index filter, bool first) {
    const float* from = dy + y_plane * c.y_plane();
    float* to = dx + x_plane * c.x_plane();
    if (first && !add) std::fill_n(to, c.x_plane(), bias != nullptr ? bias[x_plane % c.x_channels()] : 0.0F);
    for (const Tap& tap : grid.taps) {
      const float factor = weight[filter * c.taps() + tap.place];
      for_each_row(c, tap, [&](Index y_row, Index x_row, Index begin, Index end) {
        const float* __restrict in = from + y_row;
        float* __restrict out = to + x_row;
        if (c.stride[2] == 1) {
          for (Index i = begin; i < end; ++i) out[i] += factor * in[i];
        } else {
          for (Index i = begin; i < end; ++i) out[i * c.stride[2]] += factor * in[i];
        }
      });
    }
  });
}

// ---- the gradient of the weight

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

// ---- kernels

std::unique_ptr<Kernel> towards_y(const OpReader& op, const Convolution& c, bool biased) {
  const Grid grid = windows_grid(c);
  const bool few = c.out_channels <= kFewChannels;
  const gemm::Panel size = gemm::panel_of(op, c.images * c.y_plane(), c.in_channels * c.taps());
  return loop_kernel(
      [=, accumulator = op.accumulator(0), count = op.out_count(0)](const KernelCall& call) {
        const bool add = goes_on(call, accumulator, 0, count);
        const float* bias = biased ? input(call, 2) : nullptr;
        if (few) {
          forward_rows(c, grid, input(call, 0), input(call, 1), bias, add, output(call, 0));
        } else {
          forward_product(c, grid, input(call, 0), input(call, 1), bias, add, output(call, 0), size,
                          static_cast<float*>(call.workspace));
        }
      },
      few ? Bytes(0) : gemm::workspace(c.images * c.y_plane(), c.in_channels * c.taps(), size));
}

std::unique_ptr<Kernel> towards_x(const OpReader& op, const Convolution& c, bool biased) {
  const auto started = [accumulator = op.accumulator(0), count = op.out_count(0)](const KernelCall& call) {
    return goes_on(call, accumulator, 0, count);
  };
  if (c.in_channels <= kFewChannels) {
    return loop_kernel([c, grid = windows_grid(c), biased, started](const KernelCall& call) {
      const bool add = started(call);
      backward_rows(c, grid, input(call, 0), input(call, 1), biased ? input(call, 2) : nullptr, add,
                    output(call, 0));
    });
  }
  std::vector<std::pair<Extents, Grid>> phases;
  const gemm::Panel size = gemm::panel_of(op, c.images * c.x_plane(), c.out_channels * c.taps());
  Bytes workspace;
  // A stride may be longer than x.
  Extents phase_count;
  for (std::size_t a = 0; a < 3; ++a) phase_count[a] = std::min(c.stride[a], c.x[a]);
  for (Index i = 0; i < volume(phase_count); ++i) {
    const Extents phase = position_in(phase_count, i);
    Grid grid = phase_grid(c, phase);
    const Index points = c.images * volume(grid.size);
    const Index depth = c.out_channels * static_cast<Index>(grid.taps.size());
    workspace = std::max(workspace, gemm::workspace(points, depth, size));
    if (points > 0) phases.emplace_back(phase, std::move(grid));
  }
  return loop_kernel(
      [c, phases = std::move(phases), biased, started, size](const KernelCall& call) {
        const bool add = started(call);
        for (const auto& entry : phases) {
          backward_product(c, entry.second, entry.first, input(call, 0), input(call, 1),
                           biased ? input(call, 2) : nullptr, add, output(call, 0), size,
                           static_cast<float*>(call.workspace));
        }
      },
      workspace);
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

/// `x_first`: the first operand is x of the convolution and not y, as in transposed ones. The bias has the
/// channels of the first operand, which is dy, in both cases.
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

std::unique_ptr<Kernel> backward_bias(const OpReader& op) {
  const Index images = op.in(0)[0];
  const Index channels = op.in(0)[1];
  const Index plane = volume(spatial(op.in(0)));
  return loop_kernel([=, accumulator = op.accumulator(0)](const KernelCall& call) {
    const bool add = goes_on(call, accumulator, 0, channels);
    sum_channels(input(call, 0), images, channels, plane, add, output(call, 0));
  });
}

}  // namespace

void add_convolution_kernels(ReferenceTable& table) {
  for (const std::string axes : {"2d", "3d"}) {
    table["conv" + axes] = {[](const OpReader& op) {
      return towards_y(op, convolution_of(op, op.in(0), op.in(1), op.out(0)), op.inputs() > 2);
    }};
    table["conv" + axes + "_backward_input"] = {[](const OpReader& op) {
      return towards_x(op, convolution_of(op, op.out(0), op.in(1), op.in(0)), false);
    }};
    table["conv" + axes + "_backward_weight"] = {[](const OpReader& op) {
      const auto weight = static_cast<std::size_t>(std::max(0, op.gradient(1, {1, 2})));
      return towards_weight(op, convolution_of(op, op.in(1), op.out(weight), op.in(0)), false);
    }};
    table["conv_transpose" + axes] = {[](const OpReader& op) {
      return towards_x(op, convolution_of(op, op.out(0), op.in(1), op.in(0)), op.inputs() > 2);
    }};
    table["conv_transpose" + axes + "_backward_input"] = {[](const OpReader& op) {
      return towards_y(op, convolution_of(op, op.in(0), op.in(1), op.out(0)), false);
    }};
    table["conv_transpose" + axes + "_backward_weight"] = {[](const OpReader& op) {
      const auto weight = static_cast<std::size_t>(std::max(0, op.gradient(1, {1, 2})));
      return towards_weight(op, convolution_of(op, op.in(0), op.out(weight), op.in(1)), true);
    }};
    for (const std::string kind : {"conv", "conv_transpose"}) {
      table[kind + axes + "_backward_bias"] = {backward_bias};
    }
  }
}

}  // namespace poet::runtime
