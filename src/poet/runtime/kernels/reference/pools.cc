// Maxima and means over windows, or over whole planes.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/fold.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/windows.h"

namespace poet::runtime {
namespace {

struct Pool {
  Index planes = 1;
  Extents x, y, kernel, stride, padding, dilation;
  Extents places;  // of the padded image, or of the image: what counts in a mean's divisor
  Extents before;  // places before the image
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
  p.places = p.x;
  p.before = {0, 0, 0};
  const bool padding_counts = !op.has("count_include_pad") || op.integer("count_include_pad") != 0;
  const Extents end = extents(op, op.has("padding_end") ? "padding_end" : "padding", 0);
  for (std::size_t a = 0; padding_counts && a < 3; ++a) {
    p.places[a] += p.padding[a] + end[a];
    p.before[a] = p.padding[a];
  }
  return p;
}

/// The taps of the window at `at` that lie in the image, by axis.
std::array<Reach, 3> inside(const Pool& p, const Extents& at) {
  std::array<Reach, 3> taps;
  for (std::size_t a = 0; a < 3; ++a) {
    taps[a] = reach(p.kernel[a], p.dilation[a], at[a] * p.stride[a] - p.padding[a], p.x[a]);
  }
  return taps;
}

/// Calls f(window, its taps in the image) for every window of a plane.
template <class F>
void for_each_window(const Pool& p, const F& f) {
  Index window = 0;
  Extents at{};
  for (at[0] = 0; at[0] < p.y[0]; ++at[0]) {
    for (at[1] = 0; at[1] < p.y[1]; ++at[1]) {
      for (at[2] = 0; at[2] < p.y[2]; ++at[2]) f(window++, at, inside(p, at));
    }
  }
}

/// Calls f(element of the plane, offset in the window) for every element of a window.
template <class F>
void for_each_element(const Pool& p, const Extents& at, const std::array<Reach, 3>& taps, const F& f) {
  Extents place{};
  for (Index d = taps[0].begin; d < taps[0].end; ++d) {
    place[0] = at[0] * p.stride[0] - p.padding[0] + d * p.dilation[0];
    for (Index h = taps[1].begin; h < taps[1].end; ++h) {
      place[1] = at[1] * p.stride[1] - p.padding[1] + h * p.dilation[1];
      const Index row = (place[0] * p.x[1] + place[1]) * p.x[2] + at[2] * p.stride[2] - p.padding[2];
      for (Index w = taps[2].begin; w < taps[2].end; ++w) {
        f(row + w * p.dilation[2], (d * p.kernel[1] + h) * p.kernel[2] + w);
      }
    }
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
      for_each_window(p, [&](Index window, const Extents& at, const std::array<Reach, 3>& taps) {
        float best = -std::numeric_limits<float>::infinity();
        Index chosen = (taps[0].begin * p.kernel[1] + taps[1].begin) * p.kernel[2] + taps[2].begin;
        for_each_element(p, at, taps, [&](Index element, Index offset) {
          const float v = x[element];
          if (!(v > best) && !std::isnan(v)) return;
          best = v;
          chosen = offset;
        });
        y[window] = best;
        indices[window] = static_cast<IndexType>(chosen);
      });
    }
  });
}

template <class IndexType>
std::unique_ptr<Kernel> max_pool_backward_of(const Pool& p) {
  return loop_kernel([p](const KernelCall& call) {
    std::fill_n(output(call, 0), p.planes * volume(p.x), 0.0F);
    for (Index plane = 0; plane < p.planes; ++plane) {
      const float* dy = input(call, 0) + plane * volume(p.y);
      const auto* indices = input<IndexType>(call, 1) + plane * volume(p.y);
      float* dx = output(call, 0) + plane * volume(p.x);
      Index window = 0;
      Extents at{};
      for (at[0] = 0; at[0] < p.y[0]; ++at[0]) {
        for (at[1] = 0; at[1] < p.y[1]; ++at[1]) {
          for (at[2] = 0; at[2] < p.y[2]; ++at[2], ++window) {
            const Extents tap = position_in(p.kernel, static_cast<Index>(indices[window]));
            Index element = 0;
            for (std::size_t a = 0; a < 3; ++a) {
              element = element * p.x[a] + at[a] * p.stride[a] - p.padding[a] + tap[a] * p.dilation[a];
            }
            dx[element] += dy[window];
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
  return op.input(1).dtype == DType::uint8 ? max_pool_backward_of<std::uint8_t>(p)
                                           : max_pool_backward_of<std::int32_t>(p);
}

float divisor(const Pool& p, const Extents& at) {
  Index places = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const Reach r =
        reach(p.kernel[a], p.dilation[a], at[a] * p.stride[a] - p.padding[a] + p.before[a], p.places[a]);
    places *= r.end - r.begin;
  }
  return static_cast<float>(places);
}

std::unique_ptr<Kernel> avg_pool(const OpReader& op) {
  return loop_kernel([p = pool_of(op, op.in(0), op.out(0))](const KernelCall& call) {
    for (Index plane = 0; plane < p.planes; ++plane) {
      const float* x = input(call, 0) + plane * volume(p.x);
      float* y = output(call, 0) + plane * volume(p.y);
      for_each_window(p, [&](Index window, const Extents& at, const std::array<Reach, 3>& taps) {
        double sum = 0.0;
        for_each_element(p, at, taps, [&](Index element, Index) { sum += static_cast<double>(x[element]); });
        y[window] = static_cast<float>(sum) / divisor(p, at);
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
      for_each_window(p, [&](Index window, const Extents& at, const std::array<Reach, 3>& taps) {
        const float share = dy[window] / divisor(p, at);
        for_each_element(p, at, taps, [&](Index element, Index) { dx[element] += share; });
      });
    }
  });
}

// ---- whole planes

struct Planes {
  Index planes, size;

  Planes(const Shape& whole, const Shape& pooled)
      : planes(element_count(pooled)), size(element_count(whole) / planes) {}
};

std::unique_ptr<Kernel> global_avg_pool(const OpReader& op) {
  return loop_kernel([p = Planes(op.in(0), op.out(0))](const KernelCall& call) {
    for (Index i = 0; i < p.planes; ++i) {
      const float* x = input(call, 0) + i * p.size;
      const double sum = sum_of(p.size, [x](Index k) { return x[k]; });
      output(call, 0)[i] = static_cast<float>(sum / static_cast<double>(p.size));
    }
  });
}

std::unique_ptr<Kernel> global_avg_pool_backward(const OpReader& op) {
  return loop_kernel([p = Planes(op.out(0), op.in(0))](const KernelCall& call) {
    for (Index i = 0; i < p.planes; ++i) {
      std::fill_n(output(call, 0) + i * p.size, p.size, input(call, 0)[i] / static_cast<float>(p.size));
    }
  });
}

std::unique_ptr<Kernel> global_max_pool(const OpReader& op) {
  return loop_kernel([p = Planes(op.in(0), op.out(0))](const KernelCall& call) {
    for (Index i = 0; i < p.planes; ++i) {
      const float* x = input(call, 0) + i * p.size;
      Index best = 0;
      for (Index k = 1; k < p.size; ++k) {
        if (x[k] > x[best] || std::isnan(x[k])) best = k;
      }
      output(call, 0)[i] = x[best];
      output<std::int32_t>(call, 1)[i] = static_cast<std::int32_t>(best);
    }
  });
}

std::unique_ptr<Kernel> global_max_pool_backward(const OpReader& op) {
  return loop_kernel([p = Planes(op.out(0), op.in(0))](const KernelCall& call) {
    std::fill_n(output(call, 0), p.planes * p.size, 0.0F);
    for (Index i = 0; i < p.planes; ++i) {
      output(call, 0)[i * p.size + input<std::int32_t>(call, 1)[i]] = input(call, 0)[i];
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
  table["global_avg_pool"] = {global_avg_pool};
  table["global_avg_pool_backward"] = {global_avg_pool_backward};
  table["global_max_pool"] = {global_max_pool};
  table["global_max_pool_backward"] = {global_max_pool_backward};
}

}  // namespace poet::runtime
