// Maxima and means over windows: the windows of a row at once, tap by tap.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/windows.h"

namespace poet::runtime {
namespace {

struct Pool {
  Index planes = 1;
  Extents x, y, kernel, stride, padding, dilation;
  std::vector<Reach> columns;                // by tap of the last axis: the windows of a row that have it
  std::array<std::vector<Index>, 3> places;  // by axis: what of a window counts in a mean's divisor

  /// The taps of a window at place `at` of an axis that lie in the image.
  [[nodiscard]] Reach inside(std::size_t axis, Index at) const {
    return reach(kernel[axis], dilation[axis], at * stride[axis] - padding[axis], x[axis]);
  }
  /// The column of x that tap `tap` of the first window of a row meets.
  [[nodiscard]] Index column(Index tap) const { return tap * dilation[2] - padding[2]; }
};

Pool pool_of(const OpReader& op, const Shape& x, const Shape& y) {
  Pool p;
  p.planes = x[0] * x[1];
  p.x = spatial(x);
  p.y = spatial(y);
  p.kernel = extents(op, "kernel", 1);
  p.stride = extents(op, "stride", 1);
  p.padding = extents(op, "padding", 0);
  p.dilation = extents(op, "dilation", 1);
  for (Index k = 0; k < p.kernel[2]; ++k) {
    p.columns.push_back(reach(p.y[2], p.stride[2], p.column(k), p.x[2]));
  }
  // The divisor counts the places of the padded image, or those of the image.
  const bool padded = !op.has("count_include_pad") || op.integer("count_include_pad") != 0;
  const Extents end = extents(op, op.has("padding_end") ? "padding_end" : "padding", 0);
  for (std::size_t a = 0; a < 3; ++a) {
    for (Index at = 0; at < p.y[a]; ++at) {
      const Index first = at * p.stride[a] - (padded ? 0 : p.padding[a]);
      const Index size = p.x[a] + (padded ? p.padding[a] + end[a] : 0);
      const Reach r = reach(p.kernel[a], p.dilation[a], first, size);
      p.places[a].push_back(r.end - r.begin);
    }
  }
  return p;
}

constexpr Index kLanes = 64;  // windows at once

/// Some windows of a row.
struct PoolBlock {
  Extents at;    // the first one
  Index window;  // its number in the plane
  Index count;
};

template <class F>
void for_each_block(const Pool& p, const F& f) {
  PoolBlock b{};
  for (b.at[0] = 0; b.at[0] < p.y[0]; ++b.at[0]) {
    for (b.at[1] = 0; b.at[1] < p.y[1]; ++b.at[1]) {
      for (b.at[2] = 0; b.at[2] < p.y[2]; b.at[2] += kLanes) {
        b.window = (b.at[0] * p.y[1] + b.at[1]) * p.y[2] + b.at[2];
        b.count = std::min(kLanes, p.y[2] - b.at[2]);
        f(b);
      }
    }
  }
}

/// Calls f(tap's offset in the window, first and last window of the block that have it, the element of the
/// plane that it meets in window 0 of the block), taps in order.
template <class F>
void for_each_tap(const Pool& p, const PoolBlock& b, const F& f) {
  const Reach depth = p.inside(0, b.at[0]);
  const Reach height = p.inside(1, b.at[1]);
  for (Index d = depth.begin; d < depth.end; ++d) {
    const Index slice = b.at[0] * p.stride[0] - p.padding[0] + d * p.dilation[0];
    for (Index h = height.begin; h < height.end; ++h) {
      const Index row = slice * p.x[1] + b.at[1] * p.stride[1] - p.padding[1] + h * p.dilation[1];
      for (Index w = 0; w < p.kernel[2]; ++w) {
        const Reach& windows = p.columns[static_cast<std::size_t>(w)];
        const Index begin = std::clamp<Index>(windows.begin - b.at[2], 0, b.count);
        const Index end = std::clamp<Index>(windows.end - b.at[2], begin, b.count);
        f((d * p.kernel[1] + h) * p.kernel[2] + w, begin, end,
          row * p.x[2] + b.at[2] * p.stride[2] + p.column(w));
      }
    }
  }
}

/// The windows of a block that take their element from `x` on in steps of `stride`, as the larger one: none
/// has been chosen yet (-1), or the new one is larger, or it is a NaN. Without a branch: nobody could predict
/// it.
inline void take_larger(const float* x, Index stride, Index begin, Index end, std::int32_t offset,
                        float* __restrict best, std::int32_t* __restrict chosen) {
  for (Index i = begin; i < end; ++i) {
    const float v = x[i * stride];
    const bool more =
        static_cast<int>(v > best[i]) | static_cast<int>(v != v) | static_cast<int>(chosen[i] < 0);
    best[i] = more ? v : best[i];
    chosen[i] = more ? offset : chosen[i];
  }
}

/// The first of equal maxima; a NaN is larger than everything, the last of several wins, as in PyTorch.
template <class IndexType>
std::unique_ptr<Kernel> max_pool_of(const Pool& p) {
  return loop_kernel([p](const KernelCall& call) {
    for (Index plane = 0; plane < p.planes; ++plane) {
      const float* x = input(call, 0) + plane * volume(p.x);
      float* y = output(call, 0) + plane * volume(p.y);
      auto* indices = output<IndexType>(call, 1) + plane * volume(p.y);
      for_each_block(p, [&](const PoolBlock& b) {
        std::array<float, kLanes> best;
        std::array<std::int32_t, kLanes> chosen;
        best.fill(-std::numeric_limits<float>::infinity());
        chosen.fill(-1);
        for_each_tap(p, b, [&](Index offset, Index begin, Index end, Index element) {
          const auto tap = static_cast<std::int32_t>(offset);
          if (p.stride[2] == 1) {
            take_larger(x + element, 1, begin, end, tap, best.data(), chosen.data());
          } else if (p.stride[2] == 2) {
            take_larger(x + element, 2, begin, end, tap, best.data(), chosen.data());
          } else {
            take_larger(x + element, p.stride[2], begin, end, tap, best.data(), chosen.data());
          }
        });
        for (Index i = 0; i < b.count; ++i) {
          y[b.window + i] = best[static_cast<std::size_t>(i)];
          indices[b.window + i] = static_cast<IndexType>(chosen[static_cast<std::size_t>(i)]);
        }
      });
    }
  });
}

/// How far the tap of a given offset in its window is from the window's first place, axis by axis.
std::vector<Extents> tap_distances(const Pool& p) {
  std::vector<Extents> distances;
  for (Index offset = 0; offset < volume(p.kernel); ++offset) {
    distances.push_back(position_in(p.kernel, offset));
    for (std::size_t a = 0; a < 3; ++a) distances.back()[a] *= p.dilation[a];
  }
  return distances;
}

/// The pool's own indices are of elements in its windows; those of a graph that was tampered with may not be.
[[noreturn]] void refuse_index(const std::string& op, Index index) {
  throw InputError(fmt::format("op \"{}\"", op), fmt::format("index {} is not one of its windows", index));
}

template <class IndexType>
std::unique_ptr<Kernel> max_pool_backward_of(const Pool& p, const std::string& name) {
  return loop_kernel([p, taps = tap_distances(p), name](const KernelCall& call) {
    std::fill_n(output(call, 0), p.planes * volume(p.x), 0.0F);
    for (Index plane = 0; plane < p.planes; ++plane) {
      const float* dy = input(call, 0) + plane * volume(p.y);
      const auto* indices = input<IndexType>(call, 1) + plane * volume(p.y);
      float* dx = output(call, 0) + plane * volume(p.x);
      Index window = 0;
      for (Index d = 0; d < p.y[0]; ++d) {
        for (Index h = 0; h < p.y[1]; ++h) {
          for (Index w = 0; w < p.y[2]; ++w, ++window) {
            const auto tap = static_cast<std::size_t>(indices[window]);
            if (tap >= taps.size()) refuse_index(name, indices[window]);
            const Extents first = {d, h, w};
            Index place = 0;
            for (std::size_t a = 0; a < 3; ++a) {
              const Index at = first[a] * p.stride[a] - p.padding[a] + taps[tap][a];
              if (at < 0 || at >= p.x[a]) refuse_index(name, indices[window]);
              place = place * p.x[a] + at;
            }
            dx[place] += dy[window];
          }
        }
      }
    }
  });
}

std::unique_ptr<Kernel> max_pool(const OpReader& op) {
  const Pool p = pool_of(op, op.in(0), op.out(0));
  return op.output(1).dtype == DType::uint8 ? max_pool_of<std::uint8_t>(p) : max_pool_of<std::int32_t>(p);
}

std::unique_ptr<Kernel> max_pool_backward(const OpReader& op) {
  const Pool p = pool_of(op, op.out(0), op.in(0));
  return op.input(1).dtype == DType::uint8 ? max_pool_backward_of<std::uint8_t>(p, op.op().name)
                                           : max_pool_backward_of<std::int32_t>(p, op.op().name);
}

/// The divisors of the windows of a block.
void find_divisors(const Pool& p, const PoolBlock& b, std::array<float, kLanes>& divisor) {
  const Index of_row =
      p.places[0][static_cast<std::size_t>(b.at[0])] * p.places[1][static_cast<std::size_t>(b.at[1])];
  const Index* of_columns = p.places[2].data() + b.at[2];
  for (Index i = 0; i < b.count; ++i) {
    divisor[static_cast<std::size_t>(i)] = static_cast<float>(of_row * of_columns[i]);
  }
}

std::unique_ptr<Kernel> avg_pool(const OpReader& op) {
  return loop_kernel([p = pool_of(op, op.in(0), op.out(0))](const KernelCall& call) {
    for (Index plane = 0; plane < p.planes; ++plane) {
      const float* x = input(call, 0) + plane * volume(p.x);
      float* y = output(call, 0) + plane * volume(p.y);
      for_each_block(p, [&](const PoolBlock& b) {
        double sum[kLanes] = {};
        for_each_tap(p, b, [&](Index, Index begin, Index end, Index element) {
          const float* from = x + element;
          for (Index i = begin; i < end; ++i) sum[i] += static_cast<double>(from[i * p.stride[2]]);
        });
        std::array<float, kLanes> divisor;
        find_divisors(p, b, divisor);
        for (Index i = 0; i < b.count; ++i) {
          y[b.window + i] = static_cast<float>(sum[i]) / divisor[static_cast<std::size_t>(i)];
        }
      });
    }
  });
}

std::unique_ptr<Kernel> avg_pool_backward(const OpReader& op) {
  return loop_kernel([p = pool_of(op, op.out(0), op.in(0))](const KernelCall& call) {
    std::fill_n(output(call, 0), p.planes * volume(p.x), 0.0F);
    for (Index plane = 0; plane < p.planes; ++plane) {
      const float* dy = input(call, 0) + plane * volume(p.y);
      float* dx = output(call, 0) + plane * volume(p.x);
      for_each_block(p, [&](const PoolBlock& b) {
        std::array<float, kLanes> share;
        find_divisors(p, b, share);
        for (Index i = 0; i < b.count; ++i) {
          share[static_cast<std::size_t>(i)] = dy[b.window + i] / share[static_cast<std::size_t>(i)];
        }
        for_each_tap(p, b, [&](Index, Index begin, Index end, Index element) {
          float* to = dx + element;
          for (Index i = begin; i < end; ++i) to[i * p.stride[2]] += share[static_cast<std::size_t>(i)];
        });
      });
    }
  });
}

}  // namespace

void add_pool_kernels(ReferenceTable& table) {
  for (const std::string axes : {"2d", "3d"}) {
    table["max_pool" + axes] = {max_pool};
    table["max_pool" + axes + "_backward"] = {max_pool_backward};
    table["avg_pool" + axes] = {avg_pool};
    table["avg_pool" + axes + "_backward"] = {avg_pool_backward};
  }
}

}  // namespace poet::runtime
