#include "poet/runtime/kernels/onednn/convolution_product.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poet/runtime/kernels/onednn/loops/gemm.h"
#include "poet/runtime/kernels/onednn/loops/wide_loops.h"

namespace poet::runtime::onednn {
namespace {

std::int64_t product_of(const Shape& shape, std::size_t from) {
  std::int64_t result = 1;
  for (std::size_t i = from; i < shape.size(); ++i) result *= shape[i];
  return result;
}

// A convolution from x to y.
struct Shapes {
  std::int64_t images, groups;
  std::int64_t in, out;           // channels of a group
  std::int64_t plane_x, plane_y;  // numbers of a channel
  std::int64_t taps;
  bool pointwise;           // a window is one number, and all are in order
  ConvolutionAxis axes[3];  // from y's positions to x
};

Shapes shapes(const Subject& subject, const Shape& x, const Shape& weight, const Shape& y) {
  Shapes s{};
  s.images = x[0];
  s.groups = subject.integer("groups");
  s.in = x[1] / s.groups;
  s.out = y[1] / s.groups;
  s.plane_x = product_of(x, 2);
  s.plane_y = product_of(y, 2);
  s.taps = product_of(weight, 2);
  const std::size_t count = x.size() - 2;
  s.pointwise = s.taps == 1;
  for (std::size_t i = 0; i < count; ++i) {
    ConvolutionAxis& axis = s.axes[3 - count + i];
    axis.input = x[i + 2];
    axis.output = y[i + 2];
    axis.taps = weight[i + 2];
    axis.step = subject.list("stride")[i];
    axis.origin = -subject.list("padding")[i];
    axis.tap = subject.list("dilation")[i];
    if (axis.step != 1 || axis.origin != 0 || axis.input != axis.output) s.pointwise = false;
  }
  return s;
}

// y (out x images, positions) = weight (out x in, taps) windows of x.
Gemm forward(const Shapes& s) {
  Gemm p;
  p.m = s.out;
  p.n = s.images * s.plane_y;
  p.k = s.in * s.taps;
  p.a_rows = {p.k};
  p.c_rows = {s.plane_y};
  p.c_columns = {1, s.plane_y, s.groups * s.out * s.plane_y};
  const std::int64_t image = s.groups * s.in * s.plane_x;
  if (s.pointwise) {
    p.b_rows = {s.plane_x};
    p.b_columns = {1, s.plane_x, image};
  } else {
    p.b = Content::windows;
    p.windows = {{s.axes[0], s.axes[1], s.axes[2]}, image, s.plane_x};
  }
  return p;
}

// A product for the part of an operand that begins there.
struct Piece {
  Gemm product;
  std::int64_t a = 0;
  std::int64_t c = 0;
};

// The positions phase, phase + stride... of x along one axis, and the taps by which they meet y.
struct PhaseAxis {
  std::int64_t phase = 0;
  std::int64_t positions = 0;
  std::int64_t first_tap = 0;
  std::int64_t tap_step = 1;
  ConvolutionAxis windows;  // of dy; its taps may be none
};

std::vector<PhaseAxis> phases(const ConvolutionAxis& axis) {
  std::vector<PhaseAxis> result;
  const std::int64_t stride = axis.step;
  for (std::int64_t phase = 0; phase < std::min(stride, axis.input); ++phase) {
    PhaseAxis one;
    one.phase = phase;
    one.positions = (axis.input - phase + stride - 1) / stride;
    one.tap_step = stride / std::gcd(stride, axis.tap);
    // Position p of x meets position (p - origin - tap k) / stride of y, where that is a whole number.
    const auto meets = [&](std::int64_t k) { return (phase - axis.origin - axis.tap * k) % stride == 0; };
    while (one.first_tap < std::min(axis.taps, one.tap_step) && !meets(one.first_tap)) ++one.first_tap;
    const bool none = one.first_tap >= std::min(axis.taps, one.tap_step);
    one.windows.input = axis.output;
    one.windows.output = one.positions;
    one.windows.taps = none ? 0 : (axis.taps - one.first_tap + one.tap_step - 1) / one.tap_step;
    one.windows.step = 1;
    one.windows.origin = (phase - axis.origin - axis.tap * one.first_tap) / stride;
    one.windows.tap = -one.tap_step * axis.tap / stride;
    result.push_back(one);
  }
  return result;
}

// dx (in x images, positions) = weight (in x out, taps) windows of dy: for the positions of each phase modulo
// the stride those taps alone that meet any of y.
std::vector<Piece> backward_input(const Shapes& s) {
  Gemm p;
  p.m = s.in;
  p.n = s.images * s.plane_x;
  p.k = s.out * s.taps;
  p.a_rows = {s.taps};
  p.c_rows = {s.plane_x};
  const std::int64_t image_x = s.groups * s.in * s.plane_x;
  const std::int64_t image_y = s.groups * s.out * s.plane_y;
  if (s.pointwise) {
    p.a_columns = {s.in};
    p.b_rows = {s.plane_y};
    p.b_columns = {1, s.plane_y, image_y};
    p.c_columns = {1, s.plane_x, image_x};
    return {{p}};
  }
  p.b = Content::windows;
  std::vector<Piece> result;
  for (const PhaseAxis& z : phases(s.axes[0])) {
    for (const PhaseAxis& y : phases(s.axes[1])) {
      for (const PhaseAxis& x : phases(s.axes[2])) {
        Piece piece{p};
        Gemm& part = piece.product;
        part.windows = {{z.windows, y.windows, x.windows}, image_y, s.plane_y};
        part.k = s.out * z.windows.taps * y.windows.taps * x.windows.taps;
        part.n = s.images * z.positions * y.positions * x.positions;
        const std::int64_t taps_x = s.axes[2].taps;
        const std::int64_t taps_y = s.axes[1].taps;
        piece.a = (z.first_tap * taps_y + y.first_tap) * taps_x + x.first_tap;
        if (part.k > 0) {
          part.a_columns = {x.tap_step,
                            x.windows.taps,
                            y.tap_step * taps_x,
                            y.windows.taps,
                            {z.windows.taps, z.tap_step * taps_y * taps_x},
                            {s.out, s.in * s.taps}};
        }
        const std::int64_t width = s.axes[2].input;
        const std::int64_t plane = s.axes[1].input * width;
        piece.c = z.phase * plane + y.phase * width + x.phase;
        if (part.n == s.images * s.plane_x) {
          part.c_columns = {1, s.plane_x, image_x};
        } else {
          part.c_columns = {s.axes[2].step,
                            x.positions,
                            s.axes[1].step * width,
                            y.positions,
                            {z.positions, s.axes[0].step * plane},
                            {s.images, image_x}};
        }
        result.push_back(piece);
      }
    }
  }
  return result;
}

// dweight (out x in, taps) = dy (out x images, positions) windows of x, transposed.
Gemm backward_weight(const Shapes& s) {
  Gemm p;
  p.m = s.out;
  p.n = s.in * s.taps;
  p.k = s.images * s.plane_y;
  p.a_rows = {s.plane_y};
  p.a_columns = {1, s.plane_y, s.groups * s.out * s.plane_y};
  p.c_rows = {p.n};
  const std::int64_t image = s.groups * s.in * s.plane_x;
  if (s.pointwise) {
    p.b_rows = {1, s.plane_x, image};
    p.b_columns = {s.plane_x};
  } else {
    p.b = Content::windows_transposed;
    p.windows = {{s.axes[0], s.axes[1], s.axes[2]}, image, s.plane_x};
  }
  return p;
}

/// Distances of a group's part in the operands of the product A B = C.
struct Groups {
  std::int64_t a, b, c;
};

/// A pass of a convolution as products.
struct Products {
  Shapes shapes{};
  std::vector<Piece> pieces;
  Groups step{};
  BufferId a{}, b{};
  std::optional<BufferId> bias = {};
};

// A transposed convolution is the gradient of one that leads from its y to its x, so what is its forward pass
// is that one's backward pass and the other way round.
bool is_transposed(const Subject& subject) { return subject.op().kind.starts_with("conv_transpose"); }

Products weight_gradient(const Subject& subject, BufferId left, BufferId right) {
  const bool transposed = is_transposed(subject);
  const std::size_t image = transposed ? 0 : 1;
  const Shapes s =
      shapes(subject, subject.input(image).shape, subject.output(0).shape, subject.input(1 - image).shape);
  Gemm p = backward_weight(s);
  BufferId a = left;
  BufferId b = right;
  if (transposed) std::swap(a, b);
  Groups step{s.out * s.plane_y, s.in * s.plane_x, s.out * s.in * s.taps};
  // A panel of few columns is mostly zeros: they had better be rows.
  constexpr std::int64_t kFewColumns = 32;
  if (p.b == Content::matrix && p.n < kFewColumns && p.m >= 2 * p.n) {
    std::swap(p.m, p.n);
    std::swap(p.a_rows, p.b_columns);
    std::swap(p.a_columns, p.b_rows);
    std::swap(p.c_rows, p.c_columns);
    std::swap(a, b);
    std::swap(step.a, step.b);
  }
  return {s, {{p}}, step, a, b};
}

Products image_product(const Subject& subject, BufferId left, BufferId right) {
  const bool towards_x = is_input_gradient(subject) != is_transposed(subject);
  if (!towards_x) {
    const Shapes s = shapes(subject, subject.input(0).shape, subject.input(1).shape, subject.output(0).shape);
    return {s, {{forward(s)}}, {s.out * s.in * s.taps, s.in * s.plane_x, s.out * s.plane_y}, right, left};
  }
  const Shapes s = shapes(subject, subject.output(0).shape, subject.input(1).shape, subject.input(0).shape);
  std::vector<Piece> pieces = backward_input(s);
  if (pieces.empty()) pieces = {{Gemm()}};
  return {s, std::move(pieces), {s.out * s.in * s.taps, s.out * s.plane_y, s.in * s.plane_x}, right, left};
}

void add_products(Sequence& sequence, const Subject& subject, const Products& products, BufferId result) {
  const int threads = subject.threads;
  Bytes needed{};
  bool complete = true;  // else there are places to which no tap leads: nothing but the bias
  for (const Piece& piece : products.pieces) {
    if (piece.product.k > 0)
      needed = std::max(needed, product_workspace(piece.product, threads));
    else
      complete = false;
  }
  const std::int64_t groups = products.shapes.groups;
  const std::int64_t rows = products.pieces.front().product.m;
  const std::int64_t size = element_count(subject.output(0).shape);
  const std::int64_t plane = is_weight_gradient(subject) ? 1 : product_of(subject.output(0).shape, 2);
  const BufferId scratch = sequence.scratch(static_cast<std::size_t>(needed.value()));
  sequence.add(
      [=](void* const* buffers) {
        float* to = written(buffers, result);
        const float* bias = products.bias ? read(buffers, *products.bias) : nullptr;
        if (!complete)
          for (std::int64_t i = 0; i < size; ++i)
            to[i] = bias == nullptr ? 0.0F : bias[i / plane % (groups * rows)];
        for (std::int64_t g = 0; g < groups; ++g) {
          Bias added;
          if (bias != nullptr) added.of_rows = bias + g * rows;
          for (const Piece& piece : products.pieces) {
            if (piece.product.k == 0) continue;
            multiply(piece.product, read(buffers, products.a) + g * products.step.a + piece.a,
                     read(buffers, products.b) + g * products.step.b, to + g * products.step.c + piece.c,
                     added, written(buffers, scratch), threads);
          }
        }
      },
      "wide product");
}

}  // namespace

void add_bias_gradient(Sequence& sequence, const Shape& dy, BufferId from, BufferId to) {
  const std::int64_t plane = product_of(dy, 2);
  const ChannelPlanes channel{dy[0], plane, dy[1] * plane};
  sequence.add(
      [=, &loops = wide_loops(), channels = dy[1]](void* const* buffers) {
        for (std::int64_t c = 0; c < channels; ++c)
          written(buffers, to)[c] = loops.channel_sum(channel, read(buffers, from) + c * plane);
      },
      "");
}

std::unique_ptr<Kernel> make_convolution_product(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  auto sequence = std::make_unique<Sequence>();
  const BufferId left = sequence->input(0);
  const BufferId right = sequence->input(1);
  const BufferId result = sequence->output(0);
  const bool weights = is_weight_gradient(subject);
  Products products = weights ? weight_gradient(subject, left, right) : image_product(subject, left, right);
  if (!weights && !is_input_gradient(subject) && subject.inputs() == 3) products.bias = sequence->input(2);
  add_products(*sequence, subject, products, result);
  if (weights && subject.outputs() == 2)
    add_bias_gradient(*sequence, subject.input(0).shape, left, sequence->output(1));
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
