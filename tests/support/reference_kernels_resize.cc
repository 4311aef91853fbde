// Reference kernels of resizing, reversing, extremes along axes, and the activations of
// graph/nn/elementwise.h.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "tests/support/reference_call.h"

namespace poet::reference {
namespace {

/// Positions along one axis of the input with their weights.
using Taps = std::vector<std::pair<Index, double>>;

double source_place(const std::string& how, double x, double scale, double from, double to) {
  if (how == "align_corners") return to == 1.0 ? 0.0 : x * (from - 1.0) / (to - 1.0);
  if (how == "asymmetric") return x / scale;
  if (how == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (how == "pytorch_half_pixel" && to <= 1.0) return 0.0;
  return (x + 0.5) / scale - 0.5;
}

double nearest_place(const std::string& how, double x) {
  if (how == "floor") return std::floor(x);
  if (how == "ceil") return std::ceil(x);
  return how == "round_prefer_floor" ? std::ceil(x - 0.5) : std::floor(x + 0.5);
}

/// Keys' kernel at a distance.
double cubic_weight(double a, double distance) {
  const double d = std::abs(distance);
  if (d <= 1.0) return (a + 2.0) * d * d * d - (a + 3.0) * d * d + 1.0;
  return d < 2.0 ? a * d * d * d - 5.0 * a * d * d + 8.0 * a * d - 4.0 * a : 0.0;
}

Taps taps_of(const Call& c, std::size_t axis, Index position, Index from, Index to) {
  const auto word = [&](const char* name) { return std::get<std::string>(c.op.attributes.at(name)); };
  const double x = source_place(word("coordinates"), static_cast<double>(position),
                                c.real(("scale" + std::to_string(axis)).c_str()), static_cast<double>(from),
                                static_cast<double>(to));
  const auto inside = [from](double p) { return std::clamp<Index>(static_cast<Index>(p), 0, from - 1); };
  if (word("mode") == "nearest") return {{inside(nearest_place(word("nearest"), x)), 1.0}};
  const double floor = std::floor(x);
  if (word("mode") == "linear") return {{inside(floor), floor + 1.0 - x}, {inside(floor + 1.0), x - floor}};
  Taps taps;
  double sum = 0.0;
  for (int k = -1; k <= 2; ++k) {
    const double weight = cubic_weight(c.real("cubic_a"), x - (floor + k));
    const bool outside = floor + k < 0 || floor + k >= static_cast<double>(from);
    if (outside && c.integer("exclude_outside") != 0) continue;
    taps.emplace_back(inside(floor + k), weight);
    sum += weight;
  }
  if (c.integer("exclude_outside") != 0 && sum != 0.0) {  // as the kernel: no part of nothing
    for (auto& tap : taps) tap.second /= sum;
  }
  return taps;
}

/// Calls f(i, j, weight) for every element i of the output and every element j of the input in it.
template <class F>
void across(const Call& c, const Shape& in, const Shape& out, const F& f) {
  const Index all = element_count(out);
  for (Index i = 0; i < all; ++i) {
    Index rest = i;
    Index stride = 1;
    Taps taps = {{0, 1.0}};
    for (std::size_t axis = out.size(); axis-- > 0;) {
      const Index position = rest % out[axis];
      rest /= out[axis];
      const Taps along =
          axis < 2 ? Taps{{position, 1.0}} : taps_of(c, axis - 2, position, in[axis], out[axis]);
      Taps joined;
      for (const auto& [j, weight] : taps) {
        for (const auto& [p, factor] : along) joined.emplace_back(j + p * stride, weight * factor);
      }
      taps = std::move(joined);
      stride *= in[axis];
    }
    for (const auto& [j, weight] : taps) f(i, j, weight);
  }
}

void resize(Call& c) {
  across(c, c.in[0].shape, c.out[0].shape,
         [&](Index i, Index j, double weight) { at(c.out[0].data, i) += weight * at(c.in[0], j); });
}
void resize_backward(Call& c) {
  across(c, c.out[0].shape, c.in[0].shape,
         [&](Index i, Index j, double weight) { at(c.out[0].data, j) += weight * at(c.in[0], i); });
}

void flip(Call& c) {
  const Shape& shape = c.in[0].shape;
  const std::vector<Index>& axes = c.list("axes");
  for (Index i = 0; i < count(c.in[0]); ++i) {
    Index rest = i;
    Index stride = 1;
    Index j = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const Index position = rest % shape[axis];
      rest /= shape[axis];
      const bool transposed = std::find(axes.begin(), axes.end(), static_cast<Index>(axis)) != axes.end();
      j += (transposed ? shape[axis] - 1 - position : position) * stride;
      stride *= shape[axis];
    }
    at(c.out[0].data, j) = at(c.in[0], i);
  }
}

/// Where element i of x goes when the attribute's axes fall together.
Index reduced_place(const Call& c, const Shape& x, Index i) {
  const std::vector<Index>& axes = c.list("axes");
  Index stride = 1;
  Index place = 0;
  for (std::size_t axis = x.size(); axis-- > 0;) {
    const Index position = i % x[axis];
    i /= x[axis];
    if (std::find(axes.begin(), axes.end(), static_cast<Index>(axis)) != axes.end()) continue;
    place += position * stride;
    stride *= x[axis];
  }
  return place;
}

/// `sign` 1: maximum, -1: minimum.
Kernel extreme(double sign) {
  return [sign](Call& c) {
    std::vector<bool> seen(c.out[0].data.size(), false);
    for (Index i = 0; i < count(c.in[0]); ++i) {
      const Index place = reduced_place(c, c.in[0].shape, i);
      double& best = at(c.out[0].data, place);
      if (!seen[static_cast<std::size_t>(place)] || sign * at(c.in[0], i) > sign * best)
        best = at(c.in[0], i);
      seen[static_cast<std::size_t>(place)] = true;
    }
  };
}
void extreme_backward(Call& c) {
  const Array& x = c.in[1];
  std::vector<double> equal(c.in[2].data.size(), 0.0);
  const auto is_extreme = [&](Index i, Index place) { return at(x, i) == at(c.in[2], place); };
  for (Index i = 0; i < count(x); ++i) {
    const Index place = reduced_place(c, x.shape, i);
    if (is_extreme(i, place)) at(equal, place) += 1.0;
  }
  for (Index i = 0; i < count(x); ++i) {
    const Index place = reduced_place(c, x.shape, i);
    if (is_extreme(i, place)) at(c.out[0].data, i) = at(c.in[0], place) / at(equal, place);
  }
}

void log_softmax(Call& c) {
  const Index width = c.in[0].shape.back();
  for (Index row = 0; row < count(c.in[0]) / width; ++row) {
    double largest = at(c.in[0], row * width);
    for (Index k = 1; k < width; ++k) largest = std::max(largest, at(c.in[0], row * width + k));
    double sum = 0.0;
    for (Index k = 0; k < width; ++k) sum += std::exp(at(c.in[0], row * width + k) - largest);
    for (Index k = 0; k < width; ++k) {
      at(c.out[0].data, row * width + k) = at(c.in[0], row * width + k) - largest - std::log(sum);
    }
  }
}
void log_softmax_backward(Call& c) {
  const Index width = c.in[0].shape.back();
  for (Index row = 0; row < count(c.in[0]) / width; ++row) {
    double sum = 0.0;
    for (Index k = 0; k < width; ++k) sum += at(c.in[0], row * width + k);
    for (Index k = row * width; k < (row + 1) * width; ++k) {
      at(c.out[0].data, k) = at(c.in[0], k) - std::exp(at(c.in[1], k)) * sum;
    }
  }
}

/// The element of the slope that element `i` of x meets.
Index slope_place(const Shape& slope, const Shape& x, Index i) {
  Index stride = 1;
  Index place = 0;
  for (std::size_t back = 1; back <= x.size(); ++back) {
    const Index position = i % x[x.size() - back];
    i /= x[x.size() - back];
    if (back > slope.size()) continue;
    if (slope[slope.size() - back] != 1) place += position * stride;
    stride *= slope[slope.size() - back];
  }
  return place;
}

void prelu(Call& c) {
  for (Index i = 0; i < count(c.in[0]); ++i) {
    const double x = at(c.in[0], i);
    at(c.out[0].data, i) = x > 0.0 ? x : x * at(c.in[1], slope_place(c.in[1].shape, c.in[0].shape, i));
  }
}
void prelu_backward_input(Call& c) {
  for (Index i = 0; i < count(c.in[0]); ++i) {
    const double slope = at(c.in[2], slope_place(c.in[2].shape, c.in[1].shape, i));
    at(c.out[0].data, i) = at(c.in[0], i) * (at(c.in[1], i) > 0.0 ? 1.0 : slope);
  }
}
void prelu_backward_slope(Call& c) {
  for (Index i = 0; i < count(c.in[0]); ++i) {
    const double x = at(c.in[1], i);
    if (x <= 0.0) at(c.out[0].data, slope_place(c.out[0].shape, c.in[1].shape, i)) += at(c.in[0], i) * x;
  }
}

}  // namespace

void add_resize_kernels(std::map<std::string, Kernel>& table) {
  table["resize"] = resize;
  table["resize_backward"] = resize_backward;
  table["flip"] = flip;
  table["flip_backward"] = flip;
  table["reduce_max"] = extreme(1.0);
  table["reduce_min"] = extreme(-1.0);
  table["reduce_max_backward"] = extreme_backward;
  table["reduce_min_backward"] = extreme_backward;
  table["log_softmax"] = log_softmax;
  table["log_softmax_backward"] = log_softmax_backward;
  table["prelu"] = prelu;
  table["prelu_backward_input"] = prelu_backward_input;
  table["prelu_backward_slope"] = prelu_backward_slope;
}

}  // namespace poet::reference
