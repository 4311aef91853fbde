// The gradient of x, or the result of a transposed convolution.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "poet/runtime/kernels/reference/convolution_kernels.h"
#include "poet/runtime/kernels/reference/convolution_loops.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"

namespace poet::runtime {
namespace {

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
        [&](const gemm::RightPanel& to) { gather_rows(grid, group_dy, c.y_plane(), to); },
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
  for_each_pair(c, Planes::of_x, [&](const PlanePair& pair) {
    const float* from = dy + pair.y * c.y_plane();
    float* to = dx + pair.x * c.x_plane();
    if (pair.is_first && !add)
      std::fill_n(to, c.x_plane(), bias != nullptr ? bias[pair.x % c.x_channels()] : 0.0F);
    for (const Tap& tap : grid.taps) {
      const float factor = weight[pair.filter * c.taps() + tap.place];
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

}  // namespace

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

}  // namespace poet::runtime
