#include "poet/graph/strides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "poet/base/error.h"

namespace poet {

namespace {

StridedShape canonical(StridedShape layout) {
  std::int64_t expected = 1;
  for (std::size_t axis = layout.shape.size(); axis-- > 0;) {
    if (layout.shape[axis] == 1) continue;  // never stepped along
    if (layout.strides[axis] != expected) return layout;
    expected *= layout.shape[axis];
  }
  layout.strides.clear();
  return layout;
}

void check_permutation(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<std::int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.size() == rank;
  for (std::size_t i = 0; is_permutation && i < rank; ++i) {
    is_permutation = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!is_permutation) {
    throw InputError(fmt::format("axes ({})", fmt::join(axes, ", ")),
                     fmt::format("must permute 0..{}", rank - 1));
  }
}

}  // namespace

StridedShape strided_shape(const Value& value) { return {value.shape, value.strides}; }

Shape row_major_strides(const Shape& shape) {
  if (element_count(shape) == 0) {
    throw InputError(fmt::format("shape ({})", fmt::join(shape, ", ")), "every dimension must be positive");
  }
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];  // at most the element count, which fits
  }
  return strides;
}

StridedShape reshaped(const StridedShape& from, const Shape& shape) {
  if (!from.strides.empty()) {
    throw InputError(fmt::format("shape ({})", fmt::join(from.shape, ", ")),
                     "only a row-major tensor can be reshaped without a copy");
  }
  if (element_count(shape) != element_count(from.shape)) {
    throw InputError(
        fmt::format("shape ({})", fmt::join(from.shape, ", ")),
        fmt::format("cannot be reshaped to ({}): another number of elements", fmt::join(shape, ", ")));
  }
  return {shape, {}};
}

StridedShape permuted(const StridedShape& from, const std::vector<std::int64_t>& axes) {
  check_permutation(axes, from.shape.size());
  const Shape strides = from.strides.empty() ? row_major_strides(from.shape) : from.strides;
  StridedShape to;
  for (const std::int64_t axis : axes) {
    to.shape.push_back(from.shape[static_cast<std::size_t>(axis)]);
    to.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return canonical(std::move(to));
}

StridedShape stored_in_order(const Shape& shape, const std::vector<std::int64_t>& axes) {
  check_permutation(axes, shape.size());
  Shape in_storage;
  for (const std::int64_t axis : axes) in_storage.push_back(shape[static_cast<std::size_t>(axis)]);
  const Shape strides = row_major_strides(in_storage);
  StridedShape to{shape, Shape(shape.size())};
  for (std::size_t i = 0; i < axes.size(); ++i) to.strides[static_cast<std::size_t>(axes[i])] = strides[i];
  return canonical(std::move(to));
}

ValueId add_view(Graph& graph, ValueId base, StridedShape as, std::string name) {
  const ValueId source = storage(graph, base);
  Value view;
  view.name = std::move(name);
  view.shape = std::move(as.shape);
  view.strides = std::move(as.strides);
  view.dtype = graph.values[source].dtype;
  view.bytes = graph.values[source].bytes;
  view.alias_of = source;
  view.persistence = graph.values[source].persistence;
  return graph.values.push_back(std::move(view));
}

}  // namespace poet
