// resize by nearest, linear and cubic interpolation (docs/operators.md), its gradient, and flip.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "poet/runtime/kernels/reference/copies.h"
#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/loop_kernel.h"
#include "poet/runtime/kernels/reference/windows.h"

namespace poet::runtime {
namespace {

constexpr std::size_t kMostTaps = 4;

/// The elements along one axis that one position is made of, and their weights.
struct AxisTaps {
  std::array<Index, kMostTaps> place{};
  std::array<float, kMostTaps> weight{};
};

/// What taps() goes by.
struct Interpolation {
  enum class Mode { nearest, linear, cubic } mode = Mode::nearest;
  enum class Coordinates { half_pixel, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn };
  enum class Nearest { prefer_floor, prefer_ceil, floor, ceil };
  Coordinates coordinates = Coordinates::half_pixel;
  Nearest nearest = Nearest::prefer_floor;
  double cubic_a = -0.75;
  bool exclude_outside = false;

  [[nodiscard]] std::size_t taps() const {
    return mode == Mode::nearest ? 1 : mode == Mode::linear ? 2 : kMostTaps;
  }
};

Interpolation interpolation_of(const OpReader& op) {
  Interpolation i;
  using Mode = Interpolation::Mode;
  using Coordinates = Interpolation::Coordinates;
  using Nearest = Interpolation::Nearest;
  const std::string& mode = op.text("mode");
  i.mode = mode == "nearest" ? Mode::nearest : mode == "linear" ? Mode::linear : Mode::cubic;
  const std::string& coordinates = op.text("coordinates");
  i.coordinates = coordinates == "half_pixel"           ? Coordinates::half_pixel
                  : coordinates == "pytorch_half_pixel" ? Coordinates::pytorch_half_pixel
                  : coordinates == "align_corners"      ? Coordinates::align_corners
                  : coordinates == "asymmetric"         ? Coordinates::asymmetric
                                                        : Coordinates::tf_half_pixel_for_nn;
  if (i.mode == Mode::nearest) {
    const std::string& nearest = op.text("nearest");
    i.nearest = nearest == "floor"               ? Nearest::floor
                : nearest == "ceil"              ? Nearest::ceil
                : nearest == "round_prefer_ceil" ? Nearest::prefer_ceil
                                                 : Nearest::prefer_floor;
  }
  if (i.mode == Mode::cubic) {
    i.cubic_a = op.real("cubic_a");
    i.exclude_outside = op.has("exclude_outside") && op.integer("exclude_outside") != 0;
  }
  return i;
}

/// Where position p of an axis of size m reads around, in an axis of size n.
double source_place(Interpolation::Coordinates how, Index p, double scale, Index n, Index m) {
  const auto at = static_cast<double>(p);
  switch (how) {
    case Interpolation::Coordinates::align_corners:
      return m == 1 ? 0.0 : at * static_cast<double>(n - 1) / static_cast<double>(m - 1);
    case Interpolation::Coordinates::asymmetric:
      return at / scale;
    case Interpolation::Coordinates::tf_half_pixel_for_nn:
      return (at + 0.5) / scale;
    case Interpolation::Coordinates::pytorch_half_pixel:
      if (m == 1) return 0.0;
      [[fallthrough]];
    case Interpolation::Coordinates::half_pixel:
      break;
  }
  return (at + 0.5) / scale - 0.5;
}

double rounded(Interpolation::Nearest how, double q) {
  switch (how) {
    case Interpolation::Nearest::floor:
      return std::floor(q);
    case Interpolation::Nearest::ceil:
      return std::ceil(q);
    case Interpolation::Nearest::prefer_ceil:
      return std::floor(q + 0.5);
    case Interpolation::Nearest::prefer_floor:
      break;
  }
  return std::ceil(q - 0.5);
}

/// Keys, "Cubic convolution interpolation for digital image processing" (1981), equation 15 with his a.
double keys(double a, double distance) {
  const double d = std::abs(distance);
  if (d <= 1.0) return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  return d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a : 0.0;
}

AxisTaps taps_at(const Interpolation& how, Index p, double scale, Index n, Index m) {
  const double q = source_place(how.coordinates, p, scale, n, m);
  const auto inside = [n](double place) {
    return static_cast<Index>(std::clamp(place, 0.0, static_cast<double>(n - 1)));
  };
  AxisTaps taps;
  if (how.mode == Interpolation::Mode::nearest) {
    taps.place[0] = inside(rounded(how.nearest, q));
    taps.weight[0] = 1.0F;
    return taps;
  }
  const double below = std::floor(q);
  if (how.mode == Interpolation::Mode::linear) {
    taps.place = {inside(below), inside(below + 1.0)};
    taps.weight = {static_cast<float>(below + 1.0 - q), static_cast<float>(q - below)};
    return taps;
  }
  std::array<double, kMostTaps> weight{};
  double sum = 0.0;
  for (std::size_t k = 0; k < kMostTaps; ++k) {
    const double place = below + static_cast<double>(k) - 1.0;
    const bool outside = place < 0.0 || place >= static_cast<double>(n);
    taps.place[k] = inside(place);
    weight[k] = outside && how.exclude_outside ? 0.0 : keys(how.cubic_a, q - place);
    sum += weight[k];
  }
  for (std::size_t k = 0; k < kMostTaps; ++k) {
    // Where scales are extreme all elements may be outside: then there is nothing to weigh.
    if (how.exclude_outside && sum != 0.0) weight[k] /= sum;
    taps.weight[k] = static_cast<float>(weight[k]);
  }
  return taps;
}

/// Axes are three; the taps of a position along the last one are found once per run, in the workspace.
struct Resize {
  Interpolation how;
  Index planes = 1;
  Extents from{1, 1, 1};
  Extents to{1, 1, 1};
  std::array<double, 3> scale{1.0, 1.0, 1.0};
  std::array<bool, 3> there{};  // other axes have one element, which is copied

  [[nodiscard]] std::size_t taps(std::size_t axis) const { return there[axis] ? how.taps() : 1; }
  [[nodiscard]] AxisTaps at(std::size_t axis, Index p) const {
    if (there[axis]) return taps_at(how, p, scale[axis], from[axis], to[axis]);
    AxisTaps one;
    one.weight[0] = 1.0F;
    return one;
  }
};

Resize resize_of(const OpReader& op, const Shape& x, const Shape& y) {
  Resize r;
  r.how = interpolation_of(op);
  r.planes = x[0] * x[1];
  r.from = spatial(x);
  r.to = spatial(y);
  const std::size_t axes = x.size() - 2;
  for (std::size_t a = 0; a < axes; ++a) {
    r.scale[a + 3 - axes] = op.real(("scale" + std::to_string(a)).c_str());
    r.there[a + 3 - axes] = true;
  }
  return r;
}

/// Calls f(element of a plane of y, element of a plane of x, weight) for all that belong together, y's in
/// order.
template <class F>
void for_each_tap(const Resize& r, const AxisTaps* columns, const F& f) {
  Index element = 0;
  for (Index d = 0; d < r.to[0]; ++d) {
    const AxisTaps depth = r.at(0, d);
    for (Index h = 0; h < r.to[1]; ++h) {
      const AxisTaps height = r.at(1, h);
      for (Index w = 0; w < r.to[2]; ++w, ++element) {
        const AxisTaps& width = columns[w];
        for (std::size_t i = 0; i < r.taps(0); ++i) {
          for (std::size_t j = 0; j < r.taps(1); ++j) {
            const Index row = (depth.place[i] * r.from[1] + height.place[j]) * r.from[2];
            const float of_row = depth.weight[i] * height.weight[j];
            for (std::size_t k = 0; k < r.taps(2); ++k) {
              f(element, row + width.place[k], of_row * width.weight[k]);
            }
          }
        }
      }
    }
  }
}

void find_columns(const Resize& r, AxisTaps* columns) {
  for (Index w = 0; w < r.to[2]; ++w) columns[w] = r.at(2, w);
}

Bytes columns_size(const Resize& r) { return Bytes(r.to[2] * static_cast<Index>(sizeof(AxisTaps))); }

std::unique_ptr<Kernel> resize(const OpReader& op) {
  const Resize r = resize_of(op, op.in(0), op.out(0));
  return loop_kernel(
      [r](const KernelCall& call) {
        auto* columns = static_cast<AxisTaps*>(call.workspace);
        find_columns(r, columns);
        std::fill_n(output(call, 0), r.planes * volume(r.to), 0.0F);
        for (Index plane = 0; plane < r.planes; ++plane) {
          const float* x = input(call, 0) + plane * volume(r.from);
          float* y = output(call, 0) + plane * volume(r.to);
          for_each_tap(r, columns, [=](Index i, Index j, float weight) { y[i] += weight * x[j]; });
        }
      },
      columns_size(r));
}

std::unique_ptr<Kernel> resize_backward(const OpReader& op) {
  const Resize r = resize_of(op, op.out(0), op.in(0));
  return loop_kernel(
      [r](const KernelCall& call) {
        auto* columns = static_cast<AxisTaps*>(call.workspace);
        find_columns(r, columns);
        std::fill_n(output(call, 0), r.planes * volume(r.from), 0.0F);
        for (Index plane = 0; plane < r.planes; ++plane) {
          const float* dy = input(call, 0) + plane * volume(r.to);
          float* dx = output(call, 0) + plane * volume(r.from);
          for_each_tap(r, columns, [=](Index i, Index j, float weight) { dx[j] += weight * dy[i]; });
        }
      },
      columns_size(r));
}

/// Reads backwards along the axes: strides below zero, from the other end. Its own gradient.
std::unique_ptr<Kernel> flip(const OpReader& op) {
  const Value& x = op.input(0);
  Shape from = strides_of(x);
  Index offset = 0;
  for (const Index axis : op.list("axes")) {
    const auto a = static_cast<std::size_t>(axis);
    offset += (x.shape[a] - 1) * from[a];
    from[a] = -from[a];
  }
  const BoxCopy copy = box_copy(x.dtype, x.shape, strides_of(op.output(0)), 0, from, offset);
  return loop_kernel([copy](const KernelCall& call) { copy.run(call.outputs[0], call.inputs[0]); });
}

}  // namespace

void add_resize_kernels(ReferenceTable& table) {
  table["resize"] = {resize};
  table["resize_backward"] = {resize_backward};
  table["flip"] = {flip, true};
  table["flip_backward"] = {flip, true};
}

}  // namespace poet::runtime
