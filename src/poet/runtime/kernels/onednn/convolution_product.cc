#include "poet/runtime/kernels/onednn/convolution_product.h"

#include <omp.h>

#include <string>
#include <utility>

#include "poet/runtime/kernels/onednn/depthwise.h"
#include "poet/runtime/kernels/onednn/gemm.h"
#include "poet/runtime/kernels/onednn/program.h"
#include "poet/runtime/kernels/onednn/wide_loops.h"

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
  bool pointwise;      // a window is one number, and all are in order
  WindowAxis axes[3];  // from y's positions to x
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
    WindowAxis& axis = s.axes[3 - count + i];
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

// The same windows seen from x: which of y's positions meet a position of x.
WindowAxis reversed(const WindowAxis& axis) {
  WindowAxis back;
  back.input = axis.output;
  back.output = axis.input;
  back.taps = axis.taps;
  back.step = 1;
  back.origin = -axis.origin;
  back.tap = -axis.tap;
  back.divisor = axis.step;
  return back;
}

// y (out x images, positions) = weight (out x in, taps) windows of x.
Product forward(const Shapes& s) {
  Product p;
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

// dx (in x images, positions) = weight (in x out, taps) windows of dy.
Product backward_input(const Shapes& s) {
  Product p;
  p.m = s.in;
  p.n = s.images * s.plane_x;
  p.k = s.out * s.taps;
  p.a_rows = {s.taps};
  p.a_columns = {1, s.taps, s.in * s.taps};
  if (s.taps == 1) p.a_columns = {s.in};
  p.c_rows = {s.plane_x};
  p.c_columns = {1, s.plane_x, s.groups * s.in * s.plane_x};
  const std::int64_t image = s.groups * s.out * s.plane_y;
  if (s.pointwise) {
    p.b_rows = {s.plane_y};
    p.b_columns = {1, s.plane_y, image};
  } else {
    p.b = Content::windows;
    p.windows = {{reversed(s.axes[0]), reversed(s.axes[1]), reversed(s.axes[2])}, image, s.plane_y};
  }
  return p;
}

// dweight (out x in, taps) = dy (out x images, positions) windows of x, turned.
Product backward_weight(const Shapes& s) {
  Product p;
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

const float* read(void* const* slots, Slot slot) { return static_cast<const float*>(slots[slot]); }
float* written(void* const* slots, Slot slot) { return static_cast<float*>(slots[slot]); }

}  // namespace

std::unique_ptr<Kernel> make_convolution_product(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  auto program = std::make_unique<Program>();
  const Slot left = program->input(0);
  const Slot right = program->input(1);
  const Slot result = program->output(0);
  constexpr Slot kNone = ~Slot{0};
  Slot bias = kNone;

  // Distances of a group's part in the operands of the product A B = C.
  struct Groups {
    std::int64_t a, b, c;
  };
  Shapes s{};
  Product p;
  Groups step{};
  Slot a = left;
  Slot b = right;
  // A transposed convolution is the gradient of one that leads from its y to its x, so what is its forward
  // pass is that one's backward pass and the other way round.
  const bool transposed = subject.op.kind.starts_with("conv_transpose");
  const bool weights = subject.op.kind.ends_with("_backward_weight");
  const bool towards_x = subject.op.kind.ends_with("_backward_input") != transposed;
  if (weights) {
    const std::size_t image = transposed ? 0 : 1;
    s = shapes(subject, subject.input(image).shape, subject.output(0).shape, subject.input(1 - image).shape);
    p = backward_weight(s);
    if (transposed) std::swap(a, b);
    step = {s.out * s.plane_y, s.in * s.plane_x, s.out * s.in * s.taps};
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
  } else {
    a = right;
    b = left;
    if (!subject.op.kind.ends_with("_backward_input") && subject.inputs() == 3) bias = program->input(2);
    if (towards_x) {
      s = shapes(subject, subject.output(0).shape, subject.input(1).shape, subject.input(0).shape);
      p = backward_input(s);
      step = {s.out * s.in * s.taps, s.out * s.plane_y, s.in * s.plane_x};
    } else {
      s = shapes(subject, subject.input(0).shape, subject.input(1).shape, subject.output(0).shape);
      p = forward(s);
      step = {s.out * s.in * s.taps, s.in * s.plane_x, s.out * s.plane_y};
    }
  }
  const int threads = subject.threads;
  const Slot scratch = program->scratch(static_cast<std::size_t>(product_workspace(p, threads).value()));
  program->add(
      [=](void* const* slots) {
        for (std::int64_t g = 0; g < s.groups; ++g) {
          Bias added;
          if (bias != kNone) added.of_rows = read(slots, bias) + g * p.m;
          multiply(p, read(slots, a) + g * step.a, read(slots, b) + g * step.b,
                   written(slots, result) + g * step.c, added, written(slots, scratch), threads);
        }
      },
      "wide product");
  if (weights && subject.outputs() == 2) {
    const Slot dbias = program->output(1);
    const Shape& dy = subject.input(0).shape;
    const std::int64_t plane = product_of(dy, 2);
    const Channel channel{dy[0], plane, dy[1] * plane};
    program->add(
        [=, &loops = wide_loops(), channels = dy[1]](void* const* slots) {
          for (std::int64_t c = 0; c < channels; ++c) {
            written(slots, dbias)[c] = loops.channel_sum(channel, read(slots, left) + c * channel.plane);
          }
        },
        "");
  }
  return Program::finished(std::move(program));
}

bool is_depthwise(const Subject& subject) {
  const bool weights = subject.op.kind.ends_with("_backward_weight");
  const Shape& weight = weights ? subject.output(0).shape : subject.input(1).shape;
  return weight.size() == 4 && weight[0] == subject.integer("groups") && weight[1] == 1 &&
         weight[2] * weight[3] <= 25 && weight[0] > 1;
}

std::unique_ptr<Kernel> make_depthwise(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  const bool input = subject.op.kind.ends_with("_backward_input");
  const bool weights = subject.op.kind.ends_with("_backward_weight");
  const Shape& x = input ? subject.output(0).shape : subject.input(weights ? 1 : 0).shape;
  const Shape& y = input || weights ? subject.input(0).shape : subject.output(0).shape;
  const Shape& weight = weights ? subject.output(0).shape : subject.input(1).shape;
  if (x[1] != weight[0]) return nullptr;
  Plane p{};
  for (std::size_t i = 0; i < 2; ++i) {
    p.x[i] = x[i + 2];
    p.y[i] = y[i + 2];
    p.taps[i] = weight[i + 2];
    p.stride[i] = subject.list("stride")[i];
    p.dilation[i] = subject.list("dilation")[i];
    p.padding[i] = subject.list("padding")[i];
    if (p.padding[i] > (p.taps[i] - 1) * p.dilation[i]) return nullptr;
  }
  const std::int64_t images = x[0];
  const std::int64_t channels = x[1];
  const std::int64_t taps = p.taps[0] * p.taps[1];
  const std::int64_t plane_x = p.x[0] * p.x[1];
  const std::int64_t plane_y = p.y[0] * p.y[1];
  const std::int64_t own = rounded_up(Bytes(depthwise_scratch(p)), Bytes(16)).value();
  const int threads = subject.threads;

  auto program = std::make_unique<Program>();
  const Slot a = program->input(0);
  const Slot b = program->input(1);
  const Slot result = program->output(0);
  const Slot scratch = program->scratch(static_cast<std::size_t>(own * threads) * sizeof(float));
  const DepthwiseLoops& loops = depthwise_loops();
  if (weights) {
    program->add(
        [=, &loops](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
          for (std::int64_t c = 0; c < channels; ++c) {
            loops.backward_weight(p, images, read(slots, b) + c * plane_x, channels * plane_x,
                                  read(slots, a) + c * plane_y, channels * plane_y,
                                  written(slots, result) + c * taps,
                                  written(slots, scratch) + own * omp_get_thread_num());
          }
        },
        "wide loops");
    if (subject.outputs() == 2) {
      const Slot dbias = program->output(1);
      const Channel channel{images, plane_y, channels * plane_y};
      program->add(
          [=, &sums = wide_loops()](void* const* slots) {
            for (std::int64_t c = 0; c < channels; ++c) {
              written(slots, dbias)[c] = sums.channel_sum(channel, read(slots, a) + c * plane_y);
            }
          },
          "");
    }
    return Program::finished(std::move(program));
  }
  const bool has_bias = !input && subject.inputs() == 3;
  const Slot bias = has_bias ? program->input(2) : a;
  program->add(
      [=, &loops](void* const* slots) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t i = 0; i < images * channels; ++i) {
          const std::int64_t c = i % channels;
          const float* weight_of = read(slots, b) + c * taps;
          float* own_scratch = written(slots, scratch) + own * omp_get_thread_num();
          if (input) {
            loops.backward_input(p, read(slots, a) + i * plane_y, weight_of,
                                 written(slots, result) + i * plane_x, own_scratch);
          } else {
            loops.forward(p, read(slots, a) + i * plane_x, weight_of, has_bias ? read(slots, bias)[c] : 0.0F,
                          written(slots, result) + i * plane_y, own_scratch);
          }
        }
      },
      "wide loops");
  return Program::finished(std::move(program));
}

}  // namespace poet::runtime::onednn
