// y from x.

#include <algorithm>

#include "poet/runtime/kernels/reference/convolution_kernels.h"
#include "poet/runtime/kernels/reference/convolution_loops.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

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
        [&](const gemm::RightPanel& to) { gather_rows(grid, group_x, c.x_plane(), to); },
        y + g * c.out_channels * plane, [plane](Index o) { return o * plane; },
        [&](Index point) { return point / plane * c.y_channels() * plane + point % plane; }, panel);
  }
}

void forward_rows(const Convolution& c, const Grid& grid, const float* x, const float* weight,
                  const float* bias, bool add, float* y) {
  for_each_pair(c, Planes::of_y, [&](const PlanePair& pair) {
    const float* from = x + pair.x * c.x_plane();
    float* to = y + pair.y * c.y_plane();
    if (pair.is_first && !add)
      std::fill_n(to, c.y_plane(), bias != nullptr ? bias[pair.y % c.y_channels()] : 0.0F);
    for (const Tap& tap : grid.taps) {
      const float factor = weight[pair.filter * c.taps() + tap.place];
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

}  // namespace

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

}  // namespace poet::runtime
