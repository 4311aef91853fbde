// Elements at positions: embeddings, selected tokens, tables read by index.

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/sliced.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Known positions in [-size, size), counted from the front; nothing when they are not known.
std::optional<std::vector<std::int64_t>> known_positions(const Walk& walk, const Node& node,
                                                         std::int64_t size) {
  const Fixed* ids = walk.fixed(node, 1);
  if (ids == nullptr || !ids->tensor.known) return std::nullopt;
  std::vector<std::int64_t> positions;
  positions.reserve(ids->tensor.integers.size());
  for (const std::int64_t id : ids->tensor.integers) {
    positions.push_back(static_cast<std::int64_t>(checked_axis(id, static_cast<std::size_t>(size))));
  }
  return positions;
}

/// One after another, at least one.
bool is_range(const std::vector<std::int64_t>& positions) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] != positions[0] + static_cast<std::int64_t>(i)) return false;
  }
  return !positions.empty();
}

/// One position (whose axis goes) or a range of them.
void take_range(Walk& walk, const Node& node, std::size_t axis, const std::vector<std::int64_t>& positions) {
  const Shape x = walk.shape(node, 0);
  const bool one = walk.shape(node, 1).empty();
  const std::string name = Walk::name_of(node);
  const bool real = walk.type(node, 0) == Type::real;
  const ValueId from = real ? walk.value(node, 0) : walk.any(node, 0);
  if (one && x.size() == 3 && axis == 1 && real && walk.graph().layout(from).strides.empty()) {
    walk.set(node, nn::select(walk.graph(), name, from, positions[0]));
    return;
  }
  std::vector<std::int64_t> starts(x.size(), 0);
  std::vector<std::int64_t> ends = x;
  starts[axis] = positions.front();
  ends[axis] = positions.back() + 1;
  ValueId y = sliced(walk, name, from, starts, ends, std::vector<std::int64_t>(x.size(), 1));
  if (one) y = without_axis(walk, name + ".squeezed", y, axis);
  walk.set(node, y);
}

void gather(Walk& walk, const Node& node) {
  const Shape x = walk.shape(node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), x.size());
  if (walk.type(node, 1) != Type::integer) throw InputError("the indices must be integers");
  const Fixed* table = walk.fixed(node, 0);
  const bool rows = table != nullptr && table->tensor.type == Type::real && !table->transposed &&
                    !table->tensor.patterned && x.size() == 2 && axis == 0;
  const auto positions = known_positions(walk, node, x[axis]);
  if (positions && is_range(*positions) && walk.shape(node, 1).size() <= 1 &&
      (!rows || walk.shape(node, 1).empty())) {
    take_range(walk, node, axis, *positions);
    return;
  }
  const std::string name = Walk::name_of(node);
  const ValueId ids = walk.any(node, 1);
  if (rows) {
    walk.graph().bind(name + ".weight", walk.weight(node, 0, x));
    walk.set(node, nn::embedding(walk.graph(), name, ids, x[0], x[1]));
    return;
  }
  walk.set(node, nn::gather(walk.graph(), name, walk.any(node, 0), ids, static_cast<std::int64_t>(axis)));
}

void gather_elements(Walk& walk, const Node& node) {
  const Shape x = walk.shape(node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), x.size());
  if (walk.type(node, 1) != Type::integer) throw InputError("the indices must be integers");
  (void)known_positions(walk, node, x[axis]);
  const ValueId from = walk.any(node, 0);
  walk.set(node, nn::gather_elements(walk.graph(), Walk::name_of(node), from, walk.any(node, 1),
                                     static_cast<std::int64_t>(axis)));
}

}  // namespace

const std::vector<OperatorEntry>& gather_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Gather", gather},
      {"GatherElements", gather_elements},
  };
  return entries;
}

}  // namespace poet::onnx
