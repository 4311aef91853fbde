#include "poet/frontend/onnx/lower/windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants.h"

namespace poet::onnx {
namespace {

/// Rejects sizes for which the computations below could overflow 64 bits. The builder checks everything else.
void check_sizes(const char* attribute, const Windows& w) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const auto fits = [](std::int64_t number) { return number >= 1 && number <= kMost; };
  for (const nn::Extent* extent : {&w.kernel, &w.stride, &w.dilation}) {
    if (std::all_of(extent->begin(), extent->end(), fits)) continue;
    throw InputError(fmt::format("attribute '{}'", attribute),
                     "the window is not positive, or too large for the input");
  }
}

std::int64_t reach(const Windows& w, std::size_t axis) { return w.dilation[axis] * (w.kernel[axis] - 1) + 1; }

void split_padding(Windows& w, std::size_t axis, std::int64_t all, bool more_at_end) {
  w.before[axis] = more_at_end ? all / 2 : all - all / 2;
  w.after[axis] = all - w.before[axis];
}

/// Sets the padding that gives size / stride windows, rounded up.
void pad_to_same(Windows& w, const Shape& x, bool more_at_end) {
  check_sizes("auto_pad", w);
  for (std::size_t axis = 0; axis < w.kernel.size(); ++axis) {
    const std::int64_t size = x[axis + 2];
    const std::int64_t to_last = (size - 1) / w.stride[axis] * w.stride[axis];
    split_padding(w, axis, std::max<std::int64_t>(to_last + reach(w, axis) - size, 0), more_at_end);
  }
}

}  // namespace

std::size_t spatial_axes(const Shape& x) {
  if (x.size() < 3 || x.size() > 5) {
    throw InputError(fmt::format(
        "needs a batch, a channel and 1, 2 or 3 spatial axes, not {} axes in all; reshape before it",
        x.size()));
  }
  return x.size() - 2;
}

nn::Extent extent(const Node& node, const std::string& attribute, const nn::Extent& otherwise) {
  nn::Extent given = integers(node, attribute, otherwise);
  if (given.size() != otherwise.size()) {
    throw InputError(fmt::format("attribute '{}'", attribute),
                     fmt::format("must have {} numbers, not {}", otherwise.size(), given.size()));
  }
  return given;
}

std::string automatic_padding(const Node& node) {
  std::string how = text(node, "auto_pad", "NOTSET");
  if (how != "NOTSET" && how != "VALID" && how != "SAME_UPPER" && how != "SAME_LOWER") {
    throw InputError("attribute 'auto_pad'", fmt::format("'{}' is not known", how));
  }
  return how;
}

void given_padding(Windows& w, const Node& node) {
  const std::size_t axes = w.kernel.size();
  const nn::Extent pads = extent(node, "pads", nn::Extent(2 * axes, 0));
  w.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  w.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
}

Windows unpadded(const Node& node, const nn::Extent& kernel) {
  const std::size_t axes = kernel.size();
  const nn::Extent ones(axes, 1);
  return {kernel, extent(node, "strides", ones), extent(node, "dilations", ones), nn::Extent(axes, 0),
          nn::Extent(axes, 0)};
}

Windows windows(const Node& node, const Shape& x, const nn::Extent& kernel) {
  Windows w = unpadded(node, kernel);
  const std::string how = automatic_padding(node);
  if (how == "SAME_UPPER" || how == "SAME_LOWER") {
    pad_to_same(w, x, how == "SAME_UPPER");
  } else if (how == "NOTSET") {
    given_padding(w, node);
  }
  return w;
}

nn::Extent as_plane(nn::Extent extent, std::int64_t number) {
  if (extent.size() == 1) extent.insert(extent.begin(), number);
  return extent;
}

Shape as_plane(Shape shape) {
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return shape;
}

ValueId image(Lowering& net, const Node& node) {
  const ValueId x = row_major(net, node, 0);
  const Shape shape = net.builder.shape(x);
  if (shape.size() != 3) return x;
  return nn::reshape(net.builder, name_of(node) + ".plane", x, as_plane(shape));
}

void set_image(Lowering& net, const Node& node, ValueId y) {
  if (shape_of(net, node, 0).size() == 3) {
    const Shape shape = net.builder.shape(y);
    y = nn::reshape(net.builder, name_of(node) + ".line", y, {shape[0], shape[1], shape[3]});
  }
  set_result(net, node, y);
}

void pad_to_size(Windows& w, nn::Extent& extra, const Shape& x, const nn::Extent& sizes, bool more_at_end) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  check_sizes("output_shape", w);
  for (std::size_t axis = 0; axis < w.kernel.size(); ++axis) {
    std::int64_t whole = 0;
    if (__builtin_mul_overflow(w.stride[axis], x[axis + 2] - 1, &whole) || whole > kMost || extra[axis] < 0 ||
        extra[axis] > kMost || sizes[axis] < 1 || sizes[axis] > kMost) {
      throw InputError("attribute 'output_shape'", "is not positive, or too large");
    }
    const std::int64_t all = whole + reach(w, axis) + extra[axis] - sizes[axis];
    if (all < 0) extra[axis] -= all;
    split_padding(w, axis, std::max<std::int64_t>(all, 0), more_at_end);
  }
}

}  // namespace poet::onnx
