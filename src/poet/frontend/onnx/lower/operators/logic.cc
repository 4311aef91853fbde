// Operators on truth values, selections by them, and positions.

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Comparisons and logic.
void condition(Lowering& net, const Node& node) {
  static const std::map<std::string_view, const char*> kinds = {
      {"And", "logical_and"}, {"Equal", "equal"},
      {"Greater", "greater"}, {"GreaterOrEqual", "greater_or_equal"},
      {"Less", "less"},       {"LessOrEqual", "less_or_equal"},
      {"Or", "logical_or"},   {"Xor", "logical_xor"}};
  joined(net, node, kinds.at(node.op_type));
}

void logical_not(Lowering& net, const Node& node) {
  set_result(net, node, nn::unary(net.builder, "logical_not", name_of(node), any_value(net, node, 0)));
}

/// Adds x != x.
void is_nan(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const ValueId x = row_major(net, node, 0);
  const ValueId equal = nn::binary(g, "equal", name_of(node) + ".is_number", x, x);
  set_result(net, node, nn::unary(g, "logical_not", name_of(node), equal));
}

/// Returns an operand of Where; a constant filled with one number is stored as a single number if possible.
ValueId choice(Lowering& net, const Node& node, std::size_t i) {
  const Fixed* x = fixed_of(net, node, i);
  if (x == nullptr || x->role.trains || !x->tensor.fill || element_count(x->tensor.shape) == 1)
    return any_value(net, node, i);
  const Shape without = broadcast(shape_of(net, node, 0), shape_of(net, node, 3 - i));
  const Shape shape = broadcast(without, x->tensor.shape) == without ? Shape{} : x->tensor.shape;
  net.notices.add("constants of the file stay in RAM and do not train");
  return add_filled(net, fmt::format("{}.{}", name_of(node), x->name), shape, *x->tensor.fill);
}

void where(Lowering& net, const Node& node) {
  if (type_of(net, node, 0) != Type::boolean) throw InputError("the condition must be of truth values");
  check_same_types(net, node, 1);
  const ValueId condition = any_value(net, node, 0);
  const ValueId a = choice(net, node, 1);
  set_result(net, node, nn::where(net.builder, name_of(node), condition, a, choice(net, node, 2)));
}

void cumsum(Lowering& net, const Node& node) {
  const std::vector<std::int64_t>& axis = known_integers(net, node, 1);
  if (axis.size() != 1) throw InputError("the axis must be one number");
  const std::size_t along = checked_axis(axis.front(), shape_of(net, node, 0).size());
  set_result(net, node,
             nn::cumsum(net.builder, name_of(node), any_value(net, node, 0), static_cast<std::int64_t>(along),
                        integer(node, "exclusive", 0) != 0, integer(node, "reverse", 0) != 0));
}

/// Adds ArgMax, or ArgMin as the ArgMax of negated numbers.
template <bool smallest>
void argmax(Lowering& net, const Node& node) {
  const std::size_t axis = checked_axis(integer(node, "axis", 0), shape_of(net, node, 0).size());
  const std::string name = name_of(node);
  ValueId x = any_value(net, node, 0);
  if (smallest) x = nn::neg(net.builder, name + ".negative", x);
  set_result(net, node,
             nn::argmax(net.builder, name, x, static_cast<std::int64_t>(axis),
                        integer(node, "keepdims", 1) != 0, integer(node, "select_last_index", 0) != 0));
}

/// The indices of a OneHot, those from -depth to -1 counted from the end.
ValueId counted_from_0(Lowering& net, const Node& node, std::int64_t depth) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId ids = any_value(net, node, 0);
  const ValueId zero = add_constant(net, name + ".zero", integer_list({0}));
  const ValueId is_below =
      nn::cast(g, name + ".is_below", nn::binary(g, "less", name + ".below", ids, zero), DType::int32);
  const ValueId more = nn::scale(g, name + ".more", is_below, static_cast<double>(depth));
  return nn::add(g, name + ".from_0", ids, more);
}

/// Adds rows that are `on` at a position and `off` elsewhere.
void one_hot(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  if (type_of(net, node, 0) != Type::integer) throw InputError("the indices must be integers");
  const std::optional<std::int64_t> depth = whole_int32(net, node, 1);
  const Fixed* values = fixed_of(net, node, 2);
  if (!depth || *depth < 1) throw InputError("the depth must be a known positive integer");
  if (*depth > kMostIntegers)
    throw InputError(fmt::format("the depth {} is larger than the {} supported", *depth, kMostIntegers));
  if (values == nullptr || values->tensor.shape != Shape{2})
    throw InputError("the two values must be known while importing");
  const Shape ids = shape_of(net, node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", -1), ids.size() + 1);
  Shape column = ids;
  column.insert(column.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  Shape classes(ids.size() + 1, 1);
  classes[axis] = *depth;
  const ValueId position = nn::reshape(g, name + ".positions", counted_from_0(net, node, *depth), column);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(*depth));
  std::iota(numbers.begin(), numbers.end(), 0);
  Tensor each = integer_list(numbers);
  each.shape = classes;
  const ValueId all = add_constant(net, name + ".classes", std::move(each));
  const ValueId hit = nn::binary(g, "equal", name + ".hit", position, all);
  const ValueId both = any_value(net, node, 2);
  const ValueId off = nn::slice(g, name + ".off", both, {0}, {1});
  const ValueId on = nn::slice(g, name + ".on", both, {1}, {2});
  set_result(net, node, nn::where(g, name, hit, on, off));
}

}  // namespace

const std::vector<OperatorEntry>& logic_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"And", condition},
      {"ArgMax", argmax<false>},
      {"ArgMin", argmax<true>},
      {"CumSum", cumsum},
      {"Equal", condition},
      {"Greater", condition},
      {"GreaterOrEqual", condition},
      {"Less", condition},
      {"LessOrEqual", condition},
      {"IsNaN", is_nan},
      {"Not", logical_not},
      {"OneHot", one_hot},
      {"Or", condition},
      {"Where", where},
      {"Xor", condition},
  };
  return entries;
}

}  // namespace poet::onnx
