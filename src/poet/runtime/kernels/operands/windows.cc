// Operators with windows: convolutions and pools over two or three spatial axes; images resized.

#include <algorithm>
#include <limits>
#include <utility>

#include "poet/runtime/kernels/operands/rules.h"

namespace poet::runtime::operands {
namespace {

/// Of strides, paddings and dilations, so that no product of them overflows.
constexpr Index kMostSteps = Index{1} << 20;
/// Of the sizes of images, weights and windows.
constexpr Index kMostSize = std::numeric_limits<std::int32_t>::max();
/// Places of one window of a pool.
constexpr Index kMostPlaces = Index{1} << 24;

struct WindowAxis {
  Index kernel, stride, before, after, dilation;

  /// How far a window's last place is from its first.
  [[nodiscard]] Index reach() const { return dilation * (kernel - 1); }
};

/// The windows of an op, axis by axis; `kernel`: their sizes.
std::vector<WindowAxis> windows_of(const OperandReader& op, const std::vector<Index>& kernel, bool pool) {
  const std::size_t axes = kernel.size();
  const std::vector<Index>& stride = op.list("stride", axes, 1, kMostSteps);
  const std::vector<Index>& before = op.list("padding", axes, 0, kMostSteps);
  const std::vector<Index>& after =
      op.has("padding_end") ? op.list("padding_end", axes, 0, kMostSteps) : before;
  const std::vector<Index> dilation =
      pool && !op.has("dilation") ? std::vector<Index>(axes, 1) : op.list("dilation", axes, 1, kMostSteps);
  std::vector<WindowAxis> windows;
  for (std::size_t i = 0; i < axes; ++i) {
    op.need(kernel[i] >= 1 && kernel[i] <= kMostSize, "windows of 1 to {} elements, not {}", kMostSize,
            kernel[i]);
    windows.push_back({kernel[i], stride[i], before[i], after[i], dilation[i]});
  }
  return windows;
}

void need_image(const OperandReader& op, const char* what, const Shape& shape, std::size_t axes) {
  op.need(shape.size() == axes + 2, "{} of {} axes, not {}", what, axes + 2, text_of(shape));
  for (const Index d : shape)
    op.need(d <= kMostSize, "{} of sizes up to {}, not {}", what, kMostSize, text_of(shape));
}

/// How many windows fit in an axis of `size`, the last one whole.
Index windows_in(const OperandReader& op, Index size, const WindowAxis& w) {
  const Index padded = size + w.before + w.after;
  op.need(w.reach() < padded, "a window of {} (dilation {}) that fits in {} with padding {} and {}", w.kernel,
          w.dilation, size, w.before, w.after);
  return (padded - w.reach() - 1) / w.stride + 1;
}

// ---- convolutions

/// What leads from where to where; x and y are the forward op's.
void need_convolution(const OperandReader& op, std::size_t axes, bool transposed, const Shape& x,
                      const Shape& weight, const Shape& y) {
  need_image(op, "x", x, axes);
  need_image(op, "weight", weight, axes);
  need_image(op, "y", y, axes);
  const Index groups = op.integer("groups", 1, kMostSize);
  op.need(x[0] == y[0], "as many images in x as in y, not {} and {}", x[0], y[0]);
  op.need(x[1] % groups == 0 && y[1] % groups == 0, "groups that divide {} and {} channels, not {}", x[1],
          y[1], groups);
  const Index rows = transposed ? x[1] : y[1];
  const Index columns = (transposed ? y[1] : x[1]) / groups;
  op.need(weight[0] == rows && weight[1] == columns, "a weight of shape ({}, {}, ...), not {}", rows, columns,
          text_of(weight));
  const std::vector<WindowAxis> windows = windows_of(op, {weight.begin() + 2, weight.end()}, false);
  std::vector<Index> extra(axes, 0);
  if (op.has("output_padding")) {
    op.need(transposed, "no output_padding");
    extra = op.list("output_padding", axes, 0, kMostSteps);
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const WindowAxis& w = windows[i];
    Index size = 0;
    if (transposed) {
      op.need(extra[i] < std::max({w.stride, w.dilation, Index{1}}),
              "output_padding below the stride or the dilation, not {}", extra[i]);
      size = w.stride * (x[i + 2] - 1) + w.reach() + 1 + extra[i] - w.before - w.after;
    } else {
      size = windows_in(op, x[i + 2], w);
    }
    op.need(y[i + 2] == size, "y of size {} along axis {}, not {}", size, i + 2, y[i + 2]);
  }
}

template <std::size_t axes, bool transposed>
void convolution(const OperandReader& op) {
  need_convolution(op, axes, transposed, op.in(0), op.in(1), op.out(0));
  if (op.inputs() == 3) op.need_in(2, {op.out(0)[1]});
}
template <std::size_t axes, bool transposed>
void convolution_backward_input(const OperandReader& op) {
  need_convolution(op, axes, transposed, op.out(0), op.in(1), op.in(0));
}
template <std::size_t axes, bool transposed>
void convolution_backward_weight(const OperandReader& op) {
  op.need(op.gradients(1, 2, true).front() == 1, "the weight's gradient first");
  need_convolution(op, axes, transposed, op.in(1), op.out(0), op.in(0));
  if (op.outputs() == 2) op.need_out(1, {op.in(0)[1]});
}
template <std::size_t axes>
void convolution_backward_bias(const OperandReader& op) {
  need_image(op, "dy", op.in(0), axes);
  op.need_out(0, {op.in(0)[1]});
}

template <std::size_t axes, bool transposed>
void add_convolution(RuleTable& table, const std::string& kind) {
  table[kind] = {"f f f? : f", convolution<axes, transposed>};
  table[kind + "_backward_input"] = {"f f : f", convolution_backward_input<axes, transposed>};
  table[kind + "_backward_weight"] = {"f f : f f?", convolution_backward_weight<axes, transposed>};
  table[kind + "_backward_bias"] = {"f : f", convolution_backward_bias<axes>};
}

// ---- pools

Index places(const std::vector<Index>& kernel) {
  Index product = 1;
  for (const Index k : kernel) product = std::min(product * k, kMostSize);
  return product;
}

/// x and y are the forward op's. Every window holds an element.
void need_pool(const OperandReader& op, std::size_t axes, const Shape& x, const Shape& y) {
  need_image(op, "x", x, axes);
  need_image(op, "y", y, axes);
  op.need(x[0] == y[0] && x[1] == y[1], "images and channels of x and y that are equal, not {} and {}",
          text_of(x), text_of(y));
  const std::vector<Index>& kernel = op.list("kernel", axes, 1, kMostSize);
  op.need(places(kernel) <= kMostPlaces, "windows of at most {} places, not {}", kMostPlaces,
          text_of(kernel));
  const std::vector<WindowAxis> windows = windows_of(op, kernel, true);
  for (std::size_t i = 0; i < axes; ++i) {
    const WindowAxis& w = windows[i];
    const Index size = x[i + 2];
    const Index whole = windows_in(op, size, w);
    const Index left_over = (size + w.before + w.after - w.reach() - 1) % w.stride;
    op.need(y[i + 2] == whole || (y[i + 2] == whole + 1 && left_over > 0),
            "y of size {} (or one more where windows are left over) along axis {}, not {}", whole, i + 2,
            y[i + 2]);
    op.need(w.before <= w.reach() && (y[i + 2] - 1) * w.stride < w.before + size &&
                (w.before == 0 || w.dilation <= size),
            "an element in every window: axis {} of size {} has padding {} and {}", i + 2, size, w.before,
            w.after);
  }
}

void need_index_type(const OperandReader& op, const Value& indices) {
  const DType wanted = places(op.list("kernel")) <= 256 ? DType::uint8 : DType::int32;
  op.need(indices.dtype == wanted, "indices of type {}, not {}", to_string(wanted), to_string(indices.dtype));
}

template <std::size_t axes>
void max_pool(const OperandReader& op) {
  need_pool(op, axes, op.in(0), op.out(0));
  op.need_out(1, op.out(0));
  need_index_type(op, op.output(1));
}
template <std::size_t axes>
void max_pool_backward(const OperandReader& op) {
  need_pool(op, axes, op.out(0), op.in(0));
  op.need_in(1, op.in(0));
  need_index_type(op, op.input(1));
}
template <std::size_t axes>
void avg_pool(const OperandReader& op) {
  need_pool(op, axes, op.in(0), op.out(0));
}
template <std::size_t axes>
void avg_pool_backward(const OperandReader& op) {
  need_pool(op, axes, op.out(0), op.in(0));
}

template <std::size_t axes>
void add_pools(RuleTable& table, const std::string& suffix) {
  const std::vector<AttributeRule> divisor = {{"count_include_pad", Attr::flag, true}};
  table["max_pool" + suffix] = {"f : f u", max_pool<axes>};
  table["max_pool" + suffix + "_backward"] = {"f u : f", max_pool_backward<axes>};
  table["avg_pool" + suffix] = {"f : f", avg_pool<axes>, divisor};
  table["avg_pool" + suffix + "_backward"] = {"f : f", avg_pool_backward<axes>, divisor};
}

/// (N, C, 1, ...) of x.
Shape pooled(const OperandReader& op, const Shape& x) {
  op.need(x.size() >= 3, "x of at least three axes, not {}", text_of(x));
  Shape y = x;
  Index plane = 1;
  for (std::size_t axis = 2; axis < x.size(); ++axis) plane *= std::exchange(y[axis], 1);
  op.need(plane <= kMostSize, "planes of at most {} elements, not {}", kMostSize, plane);
  return y;
}
void global_pool(const OperandReader& op) {
  const Shape y = pooled(op, op.in(0));
  for (std::size_t i = 0; i < op.outputs(); ++i) op.need_out(i, y);
}
void global_pool_backward(const OperandReader& op) {
  const Shape y = pooled(op, op.out(0));
  for (std::size_t i = 0; i < op.inputs(); ++i) op.need_in(i, y);
}

// ---- resize

/// x and y are the forward op's.
void need_resize(const OperandReader& op, const Shape& x, const Shape& y) {
  op.need(x.size() >= 3 && x.size() <= 5, "x of three to five axes, not {}", text_of(x));
  op.need(y.size() == x.size() && x[0] == y[0] && x[1] == y[1],
          "x and y of equal images and channels, not {} and {}", text_of(x), text_of(y));
  const std::string& mode = op.text("mode", {"nearest", "linear", "cubic"});
  (void)op.text("coordinates",
                {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"});
  if (mode == "nearest")
    (void)op.text("nearest", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  if (mode == "cubic") (void)op.real("cubic_a");
  if (op.has("exclude_outside")) (void)op.integer("exclude_outside", 0, 1);
  for (std::size_t axis = 0; axis + 2 < x.size(); ++axis) {
    const std::string name = fmt::format("scale{}", axis);
    const double scale = op.real(name.c_str());
    op.need(scale > 0, "{} > 0, not {}", name, scale);
  }
}
void resize(const OperandReader& op) { need_resize(op, op.in(0), op.out(0)); }
void resize_backward(const OperandReader& op) { need_resize(op, op.out(0), op.in(0)); }

}  // namespace

void add_window_rules(RuleTable& table) {
  add_convolution<2, false>(table, "conv2d");
  add_convolution<3, false>(table, "conv3d");
  add_convolution<2, true>(table, "conv_transpose2d");
  add_convolution<3, true>(table, "conv_transpose3d");
  add_pools<2>(table, "2d");
  add_pools<3>(table, "3d");
  table["global_avg_pool"] = {"f : f", global_pool};
  table["global_avg_pool_backward"] = {"f : f", global_pool_backward};
  table["global_max_pool"] = {"f : f i", global_pool};
  table["global_max_pool_backward"] = {"f i : f", global_pool_backward};
  table["resize"] = {"f : f", resize};
  table["resize_backward"] = {"f : f", resize_backward};
}

}  // namespace poet::runtime::operands
