#include "poet/autodiff/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace poet {
namespace {

/// A digit of the mixed-radix number that an offset into the storage is: `size` steps of `stride` there are
/// `size` steps of `gradient_stride` in the gradient's buffer.
struct Digit {
  std::int64_t stride;
  std::int64_t size;
  std::int64_t gradient_stride;
};

/// Least significant first, neighbours joined where the gradient is contiguous across them. Nothing when the
/// view skips or repeats elements.
std::optional<std::vector<Digit>> digits(const Value& gradient, const Value& view) {
  const Shape view_strides = strides_of(view);
  const Shape gradient_strides = strides_of(gradient);
  std::vector<Digit> axes;
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    if (view.shape[axis] != 1) axes.push_back({view_strides[axis], view.shape[axis], gradient_strides[axis]});
  }
  std::sort(axes.begin(), axes.end(), [](const Digit& a, const Digit& b) { return a.stride < b.stride; });

  std::vector<Digit> joined;
  std::int64_t span = 1;
  for (const Digit& axis : axes) {
    if (axis.stride != span) return std::nullopt;
    span *= axis.size;
    if (!joined.empty() && axis.gradient_stride == joined.back().gradient_stride * joined.back().size) {
      joined.back().size *= axis.size;
    } else {
      joined.push_back(axis);
    }
  }
  return joined;
}

}  // namespace

std::optional<StridedShape> viewed_back(const Value& gradient, const Value& view, const Value& storage) {
  if (gradient.shape != view.shape || element_count(view.shape) != element_count(storage.shape))
    return std::nullopt;
  const std::optional<std::vector<Digit>> places = digits(gradient, view);
  if (!places) return std::nullopt;

  const Shape storage_strides = strides_of(storage);
  Shape result = storage_strides;  // what stays for axes of size 1, where any stride will do
  for (std::size_t axis = 0; axis < storage.shape.size(); ++axis) {
    const std::int64_t size = storage.shape[axis];
    const std::int64_t stride = storage_strides[axis];
    if (size == 1) continue;
    const auto place = std::find_if(places->begin(), places->end(), [&](const Digit& d) {
      return d.stride <= stride && stride * size <= d.stride * d.size && stride % d.stride == 0;
    });
    if (place == places->end()) return std::nullopt;
    result[axis] = stride / place->stride * place->gradient_stride;
  }
  std::vector<std::int64_t> same_order(result.size());
  std::iota(same_order.begin(), same_order.end(), 0);
  return permuted({storage.shape, std::move(result)}, same_order);  // without strides where they say nothing
}

}  // namespace poet
