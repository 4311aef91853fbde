#include "poet/frontend/onnx/lower/sliced.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "poet/frontend/onnx/lower/operands.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

using Axes = std::vector<std::int64_t>;

std::size_t index(std::int64_t axis) { return static_cast<std::size_t>(axis); }

Axes identity(std::size_t rank) {
  Axes axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::vector<std::int64_t> reordered(const std::vector<std::int64_t>& list, const Axes& axes) {
  std::vector<std::int64_t> result;
  for (const std::int64_t axis : axes) result.push_back(list[index(axis)]);
  return result;
}

}  // namespace

ValueId sliced(GraphBuilder& graph, const std::string& name, ValueId x,
               const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
               const std::vector<std::int64_t>& steps) {
  const StridedShape layout = graph.layout(x);
  if (layout.strides.empty()) return nn::slice(graph, name, x, starts, ends, steps);
  Axes order = identity(layout.shape.size());  // slowest first
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return layout.strides[index(a)] > layout.strides[index(b)];
  });
  if (!permuted(layout, order).strides.empty()) {
    return nn::slice(graph, name, row_major(graph, name, x), starts, ends, steps);
  }
  Axes back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[index(order[i])] = static_cast<std::int64_t>(i);
  const ValueId stored = nn::permute(graph, name + ".stored", x, order);
  const ValueId part = nn::slice(graph, name, stored, reordered(starts, order), reordered(ends, order),
                                 reordered(steps, order));
  return nn::permute(graph, name + ".transposed", part, back);
}

ValueId without_axis(GraphBuilder& graph, const std::string& name, ValueId x, std::size_t axis) {
  StridedShape layout = graph.layout(x);
  const auto at = static_cast<std::ptrdiff_t>(axis);
  layout.shape.erase(layout.shape.begin() + at);
  if (!layout.strides.empty()) {
    layout.strides.erase(layout.strides.begin() + at);
    layout = permuted(layout, identity(layout.shape.size()));  // row-major ones have no strides
  }
  return graph.view(name, x, layout);
}

}  // namespace poet::onnx
