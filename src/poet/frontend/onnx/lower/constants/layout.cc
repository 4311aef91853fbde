// Operators that move elements or change the shape only.

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/rules.h"
#include "poet/graph/strides.h"

namespace poet::onnx::constants {
namespace {

Tensor with_shape(const Tensor& x, Shape shape) {
  if (element_count(shape) != element_count(x.shape)) {
    throw InputError(
        fmt::format("makes {} of {}: the numbers of elements differ", shown(shape), shown(x.shape)));
  }
  Tensor out = x;
  out.shape = std::move(shape);
  return out;
}

/// Returns the list from the attribute (older opsets) or the input (newer ones).
std::vector<std::int64_t> list(const Node& node, const Operands& in, std::size_t position,
                               const std::string& name) {
  if (position < in.size() && in[position] != nullptr) return in[position]->integers;
  return integers(node, name);
}

}  // namespace

Tensor reshape(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  return with_shape(*in.at(0), reshape_target(in.at(0)->shape, list(node, in, 1, "shape"),
                                              integer(node, "allowzero", 0) != 0));
}

Tensor squeeze(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  return with_shape(*in.at(0), squeezed(in.at(0)->shape, list(node, in, 1, "axes")));
}

Tensor unsqueeze(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  return with_shape(*in.at(0), unsqueezed(in.at(0)->shape, list(node, in, 1, "axes")));
}

Tensor gather(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  const Tensor& ids = *in.at(1);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), x.shape.size());
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto outer = static_cast<std::size_t>(element_count(shape));
  const Shape tail(x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape.end());
  const auto inner = static_cast<std::size_t>(element_count(tail));
  const auto extent = static_cast<std::size_t>(x.shape[axis]);
  shape.insert(shape.end(), ids.shape.begin(), ids.shape.end());
  shape.insert(shape.end(), tail.begin(), tail.end());
  Tensor out = like(x, shape);
  if (!out.known) return out;
  std::size_t i = 0;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t id : ids.integers) {
      const std::size_t at = checked_axis(id, extent);
      for (std::size_t k = 0; k < inner; ++k) copy(out, i++, x, (o * extent + at) * inner + k);
    }
  }
  return out;
}

Tensor slice(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  const std::vector<Range> ranges =
      slice_ranges(x.shape, list(node, in, 1, "starts"), list(node, in, 2, "ends"), list(node, in, 3, "axes"),
                   list(node, in, 4, "steps"));
  Shape shape;
  for (const Range& range : ranges) shape.push_back(range_length(range));
  Tensor out = like(x, shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    std::size_t rest = i;
    std::size_t from = 0;
    std::size_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(shape[axis]);
      const std::int64_t at =
          ranges[axis].start + static_cast<std::int64_t>(rest % extent) * ranges[axis].step;
      rest /= extent;
      from += static_cast<std::size_t>(at) * stride;
      stride *= static_cast<std::size_t>(x.shape[axis]);
    }
    copy(out, i, x, from);
  }
  return out;
}

Tensor concat(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& first = *in.at(0);
  const std::size_t axis = checked_axis(integer(node, "axis", 1), first.shape.size());
  Shape shape = first.shape;
  shape[axis] = 0;
  for (const Tensor* x : in) {
    Shape same = x->shape;
    if (same.size() != shape.size() || x->type != first.type)
      throw InputError("its inputs do not fit together");
    shape[axis] = combine("Add", shape[axis], same[axis]);
    same[axis] = first.shape[axis];
    if (same != first.shape) throw InputError("its inputs differ in another axis than the one joined");
  }
  Tensor out = like(first, shape);
  if (!out.known) return out;
  const auto outer = static_cast<std::size_t>(
      element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis))));
  std::size_t i = 0;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const Tensor* x : in) {
      const std::size_t run = size(*x) / outer;
      for (std::size_t k = 0; k < run; ++k) copy(out, i++, *x, o * run + k);
    }
  }
  return out;
}

Tensor transpose(const Node& node, const Operands& in, std::int64_t /*opset*/) {
  const Tensor& x = *in.at(0);
  std::vector<std::int64_t> reversed;
  for (std::size_t axis = x.shape.size(); axis-- > 0;) reversed.push_back(static_cast<std::int64_t>(axis));
  const StridedShape from = permuted({x.shape, {}}, integers(node, "perm", reversed));
  const Shape strides = from.strides.empty() ? row_major_strides(from.shape) : from.strides;
  Tensor out = like(x, from.shape);
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    std::size_t rest = i;
    std::size_t at = 0;
    for (std::size_t axis = from.shape.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(from.shape[axis]);
      at += rest % extent * static_cast<std::size_t>(strides[axis]);
      rest /= extent;
    }
    copy(out, i, x, at);
  }
  return out;
}

Tensor expand(const Node& /*node*/, const Operands& in, std::int64_t /*opset*/) {
  Tensor out = like(*in.at(0), broadcast(in.at(0)->shape, in.at(1)->integers));
  for (std::size_t i = 0; out.known && i < size(out); ++i) {
    copy(out, i, *in[0], broadcast_index(i, out.shape, in[0]->shape));
  }
  return out;
}

}  // namespace poet::onnx::constants
