// Gathering: embeddings, selected tokens, tables read by index.

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/sliced.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns known positions, given in [-size, size), counted from the front, or nullopt if they are unknown.
std::optional<std::vector<std::int64_t>> known_positions(const Lowering& net, const Node& node,
                                                         std::int64_t size) {
  const Fixed* ids = fixed_of(net, node, 1);
  if (ids == nullptr || !ids->tensor.known) return std::nullopt;
  std::vector<std::int64_t> positions;
  positions.reserve(ids->tensor.integers.size());
  for (const std::int64_t id : ids->tensor.integers) {
    positions.push_back(static_cast<std::int64_t>(checked_axis(id, static_cast<std::size_t>(size))));
  }
  return positions;
}

/// Returns the known indices as a constant, those from the end counted from the front: rows of a table in
/// parts are so counted.
ValueId from_the_front(Lowering& net, const Node& node, const std::vector<std::int64_t>& positions) {
  Fixed ids = *fixed_of(net, node, 1);
  if (ids.tensor.integers == positions) return any_value(net, node, 1);
  ids.name = fmt::format("{}.{}", name_of(node), ids.name);
  ids.tensor.integers = positions;
  return constant_of(net, node, ids);
}

/// Returns whether the positions are consecutive and not empty.
bool is_range(const std::vector<std::int64_t>& positions) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] != positions[0] + static_cast<std::int64_t>(i)) return false;
  }
  return !positions.empty();
}

/// Takes one position, which removes the axis, or a range of positions.
void take_range(Lowering& net, const Node& node, std::size_t axis,
                const std::vector<std::int64_t>& positions) {
  const Shape x = shape_of(net, node, 0);
  const bool one = shape_of(net, node, 1).empty();
  const std::string name = name_of(node);
  const bool real = type_of(net, node, 0) == Type::real;
  const ValueId from = real ? value_of(net, node, 0) : any_value(net, node, 0);
  if (one && x.size() == 3 && axis == 1 && real && net.builder.layout(from).strides.empty())
    return set_result(net, node, nn::select(net.builder, name, from, positions[0]));
  std::vector<std::int64_t> starts(x.size(), 0);
  std::vector<std::int64_t> ends = x;
  starts[axis] = positions.front();
  ends[axis] = positions.back() + 1;
  ValueId y = sliced(net.builder, name, from, starts, ends, std::vector<std::int64_t>(x.size(), 1));
  if (one) y = without_axis(net.builder, name + ".squeezed", y, axis);
  set_result(net, node, y);
}

void gather(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), x.size());
  if (type_of(net, node, 1) != Type::integer) throw InputError("the indices must be integers");
  const Fixed* table = fixed_of(net, node, 0);
  const bool rows = table != nullptr && table->tensor.type == Type::real && !table->transposed &&
                    table->role.trains && x.size() == 2 && axis == 0;
  const auto positions = known_positions(net, node, x[axis]);
  if (positions && is_range(*positions) && shape_of(net, node, 1).size() <= 1 &&
      (!rows || shape_of(net, node, 1).empty()))
    return take_range(net, node, axis, *positions);
  const std::string name = name_of(node);
  const ValueId ids = positions ? from_the_front(net, node, *positions) : any_value(net, node, 1);
  if (rows) {
    net.builder.bind(name + ".weight", weight_of(net, node, 0, x));
    set_result(net, node, nn::embedding(net.builder, name, ids, x[0], x[1]));
    return;
  }
  set_result(net, node,
             nn::gather(net.builder, name, any_value(net, node, 0), ids, static_cast<std::int64_t>(axis)));
}

void gather_elements(Lowering& net, const Node& node) {
  const Shape x = shape_of(net, node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", 0), x.size());
  if (type_of(net, node, 1) != Type::integer) throw InputError("the indices must be integers");
  (void)known_positions(net, node, x[axis]);
  const ValueId from = any_value(net, node, 0);
  set_result(net, node,
             nn::gather_elements(net.builder, name_of(node), from, any_value(net, node, 1),
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
