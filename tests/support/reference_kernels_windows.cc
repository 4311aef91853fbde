// Reference kernels of convolutions, transposed convolutions and pools, over any number of spatial axes.

#include <cstddef>
#include <limits>

#include "tests/support/reference_call.h"

namespace poet::reference {
namespace {

using List = std::vector<Index>;

struct Window {
  List kernel;
  List stride;
  List padding;
  List dilation;
};

List spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

Index product(const List& list) {
  Index all = 1;
  for (const Index d : list) all *= d;
  return all;
}

/// All positions of a box, row-major.
std::vector<List> positions(const List& sizes) {
  std::vector<List> all(static_cast<std::size_t>(product(sizes)), List(sizes.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Index rest = static_cast<Index>(i);
    for (std::size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis]) all[i][axis] = rest % sizes[axis];
  }
  return all;
}

/// The element of the image that a tap of the window at `out` meets, or -1 for padding.
Index met(const Window& w, const List& image, const List& out, const List& tap) {
  Index element = 0;
  for (std::size_t axis = 0; axis < image.size(); ++axis) {
    const Index place = out[axis] * w.stride[axis] + tap[axis] * w.dilation[axis] - w.padding[axis];
    if (place < 0 || place >= image[axis]) return -1;
    element = element * image[axis] + place;
  }
  return element;
}

/// What the taps of the windows of one plane meet.
struct Meeting {
  Index window;
  Index tap;
  Index element;
};
std::vector<Meeting> meetings(const Window& w, const List& image, const List& windows) {
  const std::vector<List> outs = positions(windows);
  const std::vector<List> taps = positions(w.kernel);
  std::vector<Meeting> all;
  for (std::size_t out = 0; out < outs.size(); ++out) {
    for (std::size_t tap = 0; tap < taps.size(); ++tap) {
      const Index element = met(w, image, outs[out], taps[tap]);
      if (element >= 0) all.push_back({static_cast<Index>(out), static_cast<Index>(tap), element});
    }
  }
  return all;
}

// ---- convolution

/// Calls f(x index, weight index, y index) for every multiplication of a convolution from x to y.
template <class F>
void convolve(const Call& c, const Shape& x, const Shape& weight, const Shape& y, const F& f) {
  const Window w{spatial(weight), c.list("stride"), c.list("padding"), c.list("dilation")};
  const std::vector<Meeting> plane = meetings(w, spatial(x), spatial(y));
  const Index groups = c.integer("groups");
  const Index in_per_group = x[1] / groups;
  const Index out_per_group = y[1] / groups;
  const Index x_size = product(spatial(x));
  const Index w_size = product(w.kernel);
  const Index y_size = product(spatial(y));
  for (Index n = 0; n < y[0]; ++n) {
    for (Index o = 0; o < y[1]; ++o) {
      for (Index i = 0; i < in_per_group; ++i) {
        const Index x_plane = n * x[1] + o / out_per_group * in_per_group + i;
        const Index y_plane = n * y[1] + o;
        const Index w_plane = o * in_per_group + i;
        for (const Meeting& m : plane) {
          f(x_plane * x_size + m.element, w_plane * w_size + m.tap, y_plane * y_size + m.window);
        }
      }
    }
  }
}

/// Calls f(channel, element) for a tensor (N, C, ...).
template <class F>
void per_channel(const Array& a, const F& f) {
  const Index channels = dim(a, 1);
  const Index inner = count(a) / (dim(a, 0) * channels);
  for (Index i = 0; i < count(a); ++i) f(i / inner % channels, i);
}

void add_bias(Call& c) {
  if (c.in.size() < 3) return;
  Array& y = c.out[0];
  per_channel(y, [&](Index channel, Index i) { at(y.data, i) += at(c.in[2], channel); });
}

void bias_gradient(const Array& dy, Array& dbias) {
  per_channel(dy, [&](Index channel, Index i) { at(dbias.data, channel) += at(dy, i); });
}

void conv(Call& c) {
  Array& y = c.out[0];
  convolve(c, c.in[0].shape, c.in[1].shape, y.shape,
           [&](Index x, Index w, Index out) { at(y.data, out) += at(c.in[0], x) * at(c.in[1], w); });
  add_bias(c);
}

void conv_backward_input(Call& c) {
  Array& dx = c.out[0];
  convolve(c, dx.shape, c.in[1].shape, c.in[0].shape,
           [&](Index x, Index w, Index y) { at(dx.data, x) += at(c.in[0], y) * at(c.in[1], w); });
}

void conv_backward_weight(Call& c) {
  Array& dw = *c.gradient(1, {1, 2});
  convolve(c, c.in[1].shape, dw.shape, c.in[0].shape,
           [&](Index x, Index w, Index y) { at(dw.data, w) += at(c.in[0], y) * at(c.in[1], x); });
  if (Array* dbias = c.gradient(2, {1, 2})) bias_gradient(c.in[0], *dbias);
}

// Its multiplications are those of the convolution from its output to its input.

void conv_transpose(Call& c) {
  Array& y = c.out[0];
  convolve(c, y.shape, c.in[1].shape, c.in[0].shape,
           [&](Index out, Index w, Index x) { at(y.data, out) += at(c.in[0], x) * at(c.in[1], w); });
  add_bias(c);
}

void conv_transpose_backward_input(Call& c) {
  Array& dx = c.out[0];
  convolve(c, c.in[0].shape, c.in[1].shape, dx.shape,
           [&](Index y, Index w, Index x) { at(dx.data, x) += at(c.in[0], y) * at(c.in[1], w); });
}

void conv_transpose_backward_weight(Call& c) {
  Array& dw = *c.gradient(1, {1, 2});
  convolve(c, c.in[0].shape, dw.shape, c.in[1].shape,
           [&](Index y, Index w, Index x) { at(dw.data, w) += at(c.in[0], y) * at(c.in[1], x); });
  if (Array* dbias = c.gradient(2, {1, 2})) bias_gradient(c.in[0], *dbias);
}

// ---- pooling

Window pooling_window(const Call& c) {
  const List& kernel = c.list("kernel");
  const bool dilated = c.op.attributes.count("dilation") == 1;
  return {kernel, c.list("stride"), c.list("padding"), dilated ? c.list("dilation") : List(kernel.size(), 1)};
}

/// Calls f(x index, y index, offset in the window) for every element of every window.
template <class F>
void pool(const Call& c, const Shape& x, const Shape& y, const F& f) {
  const std::vector<Meeting> each = meetings(pooling_window(c), spatial(x), spatial(y));
  const Index x_size = product(spatial(x));
  const Index y_size = product(spatial(y));
  for (Index plane = 0; plane < y[0] * y[1]; ++plane) {
    for (const Meeting& m : each) f(plane * x_size + m.element, plane * y_size + m.window, m.tap);
  }
}

void max_pool(Call& c) {
  Array& y = c.out[0];
  std::fill(y.data.begin(), y.data.end(), -std::numeric_limits<double>::infinity());
  pool(c, c.in[0].shape, y.shape, [&](Index x, Index out, Index offset) {
    if (at(c.in[0], x) <= at(y.data, out)) return;
    at(y.data, out) = at(c.in[0], x);
    at(c.out[1].data, out) = static_cast<double>(offset);
  });
}

void max_pool_backward(Call& c) {
  pool(c, c.out[0].shape, c.in[0].shape, [&](Index x, Index out, Index offset) {
    if (at(c.in[1], out) == static_cast<double>(offset)) at(c.out[0].data, x) += at(c.in[0], out);
  });
}

/// The divisor of every window of one plane: its places in the padded image, or (with the attribute
/// count_include_pad = 0) in the image.
std::vector<double> window_sizes(const Call& c, const Shape& x, const Shape& y) {
  Window w = pooling_window(c);
  List image = spatial(x);
  if (c.op.attributes.count("count_include_pad") == 0 || c.integer("count_include_pad") != 0) {
    // The padded image seen as an image.
    const bool uneven = c.op.attributes.count("padding_end") == 1;
    const List& end = uneven ? c.list("padding_end") : c.list("padding");
    for (std::size_t axis = 0; axis < image.size(); ++axis) image[axis] += w.padding[axis] + end[axis];
    w.padding.assign(image.size(), 0);
  }
  std::vector<double> sizes(static_cast<std::size_t>(product(spatial(y))), 0.0);
  for (const Meeting& m : meetings(w, image, spatial(y))) at(sizes, m.window) += 1.0;
  return sizes;
}

void avg_pool(Call& c) {
  const Shape& shape = c.out[0].shape;
  std::vector<double> sizes = window_sizes(c, c.in[0].shape, shape);
  pool(c, c.in[0].shape, shape, [&](Index x, Index y, Index) {
    at(c.out[0].data, y) += at(c.in[0], x) / at(sizes, y % static_cast<Index>(sizes.size()));
  });
}

void avg_pool_backward(Call& c) {
  const Shape& shape = c.in[0].shape;
  std::vector<double> sizes = window_sizes(c, c.out[0].shape, shape);
  pool(c, c.out[0].shape, shape, [&](Index x, Index y, Index) {
    at(c.out[0].data, x) += at(c.in[0], y) / at(sizes, y % static_cast<Index>(sizes.size()));
  });
}

void global_avg_pool(Call& c) {
  const Index inner = count(c.in[0]) / count(c.out[0]);
  for (Index i = 0; i < count(c.in[0]); ++i) {
    at(c.out[0].data, i / inner) += at(c.in[0], i) / static_cast<double>(inner);
  }
}

void global_avg_pool_backward(Call& c) {
  const Index inner = count(c.out[0]) / count(c.in[0]);
  for (Index i = 0; i < count(c.out[0]); ++i) {
    at(c.out[0].data, i) = at(c.in[0], i / inner) / static_cast<double>(inner);
  }
}

void global_max_pool(Call& c) {
  const Array& x = c.in[0];
  const Index plane = count(x) / count(c.out[0]);
  for (Index i = 0; i < count(c.out[0]); ++i) {
    Index best = 0;
    for (Index k = 1; k < plane; ++k) {
      if (at(x, i * plane + k) > at(x, i * plane + best)) best = k;
    }
    at(c.out[0].data, i) = at(x, i * plane + best);
    at(c.out[1].data, i) = static_cast<double>(best);
  }
}

void global_max_pool_backward(Call& c) {
  const Index plane = count(c.out[0]) / count(c.in[0]);
  for (Index i = 0; i < count(c.in[0]); ++i) {
    at(c.out[0].data, i * plane + static_cast<Index>(at(c.in[1], i))) = at(c.in[0], i);
  }
}

}  // namespace

void add_window_kernels(std::map<std::string, Kernel>& table) {
  for (const std::string axes : {"2d", "3d"}) {
    table["conv" + axes] = conv;
    table["conv" + axes + "_backward_input"] = conv_backward_input;
    table["conv" + axes + "_backward_weight"] = conv_backward_weight;
    table["conv_transpose" + axes] = conv_transpose;
    table["conv_transpose" + axes + "_backward_input"] = conv_transpose_backward_input;
    table["conv_transpose" + axes + "_backward_weight"] = conv_transpose_backward_weight;
    for (const std::string conv_kind : {"conv", "conv_transpose"}) {
      table[conv_kind + axes + "_backward_bias"] = [](Call& c) { bias_gradient(c.in[0], c.out[0]); };
    }
    table["max_pool" + axes] = max_pool;
    table["max_pool" + axes + "_backward"] = max_pool_backward;
    table["avg_pool" + axes] = avg_pool;
    table["avg_pool" + axes + "_backward"] = avg_pool_backward;
  }
  table["global_avg_pool"] = global_avg_pool;
  table["global_avg_pool_backward"] = global_avg_pool_backward;
  table["global_max_pool"] = global_max_pool;
  table["global_max_pool_backward"] = global_max_pool_backward;
}

}  // namespace poet::reference
