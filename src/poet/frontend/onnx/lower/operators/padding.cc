// Pad.

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the elements from `start` up to `end` along an axis.
ValueId range_of(GraphBuilder& g, const std::string& name, ValueId x, std::size_t axis, std::int64_t start,
                 std::int64_t end) {
  std::vector<std::int64_t> starts(g.shape(x).size(), 0);
  std::vector<std::int64_t> ends = g.shape(x);
  starts[axis] = start;
  ends[axis] = end;
  return nn::slice(g, name, x, starts, ends);
}

/// Returns the padding of `count` elements before (or after) `x` along an axis by ONNX's mode.
ValueId border(GraphBuilder& g, const std::string& name, ValueId x, std::size_t axis, std::int64_t count,
               const std::string& mode, bool before) {
  const std::int64_t size = g.shape(x)[axis];
  if (mode == "edge") {
    Shape to = g.shape(x);
    to[axis] = count;
    const std::int64_t at = before ? 0 : size - 1;
    return nn::expand(g, name, range_of(g, name + ".edge", x, axis, at, at + 1), to);
  }
  const bool reflects = mode == "reflect";
  const std::int64_t most = reflects ? size - 1 : size;
  if (count > most)
    throw InputError(fmt::format("the padding of axis {} must be at most {} in mode '{}', not {}", axis, most,
                                 mode, count));
  if (!reflects) {
    return before ? range_of(g, name, x, axis, size - count, size) : range_of(g, name, x, axis, 0, count);
  }
  const std::int64_t start = before ? 1 : size - 1 - count;
  if (count == 1) return range_of(g, name, x, axis, start, start + 1);
  const ValueId mirrored = range_of(g, name + ".mirrored", x, axis, start, start + count);
  return nn::flip(g, name, mirrored, {static_cast<std::int64_t>(axis)});
}

/// Pads axis by axis, so that corners are padded from earlier padding.
ValueId padded_by_own(GraphBuilder& g, const std::string& name, ValueId x,
                      const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
                      const std::string& mode) {
  for (std::size_t axis = 0; axis < before.size(); ++axis) {
    if (before[axis] < 0 || after[axis] < 0)
      throw InputError(fmt::format("the padding must not be negative in mode '{}'", mode));
    if (before[axis] == 0 && after[axis] == 0) continue;
    const std::string here = fmt::format("{}.axis{}", name, axis);
    std::vector<ValueId> row = {x};
    if (before[axis] > 0)
      row.insert(row.begin(), border(g, here + ".before", x, axis, before[axis], mode, true));
    if (after[axis] > 0) row.push_back(border(g, here + ".after", x, axis, after[axis], mode, false));
    x = nn::concat(g, here, row, static_cast<std::int64_t>(axis));
  }
  return x;
}

void pad(Lowering& net, const Node& node) {
  const std::string mode = text(node, "mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    throw InputError("attribute 'mode'", "must be 'constant', 'reflect', 'edge' or 'wrap'");
  const std::size_t rank = shape_of(net, node, 0).size();
  const std::vector<std::int64_t> pads = integers_of(net, node, 1, "pads");
  double value = real(node, "value", 0.0);
  if (has_input(node, 2)) {
    const std::optional<double> number = scalar_of(net, node, 2);
    const std::optional<std::int64_t> whole = whole_number(net, node, 2);
    if (!number && !whole) throw InputError("the value of the padding must be a known number");
    value = number ? *number : static_cast<double>(*whole);
  }
  std::vector<std::int64_t> axes = integers_of(net, node, 3, "axes");
  if (axes.empty()) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (pads.size() != 2 * axes.size()) throw InputError("the padding must have two numbers per axis");
  std::vector<std::int64_t> before(rank, 0);
  std::vector<std::int64_t> after(rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    before[checked_axis(axes[i], rank)] = pads[i];
    after[checked_axis(axes[i], rank)] = pads[i + axes.size()];
  }
  if (std::all_of(pads.begin(), pads.end(), [](std::int64_t p) { return p == 0; })) {
    set_result(net, node, operand_of(net, node, 0));
    return;
  }
  if (mode != "constant")
    return set_result(
        net, node, padded_by_own(net.builder, name_of(node), any_value(net, node, 0), before, after, mode));
  set_result(net, node, nn::pad(net.builder, name_of(node), any_value(net, node, 0), before, after, value));
}

}  // namespace

const std::vector<OperatorEntry>& padding_operators() {
  static const std::vector<OperatorEntry> entries = {{"Pad", pad}};
  return entries;
}

}  // namespace poet::onnx
