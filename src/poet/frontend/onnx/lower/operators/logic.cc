// Truth values, integers, and what they choose.

#include <fmt/format.h>

#include <limits>
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

void check_same_types(const Walk& walk, const Node& node, std::size_t first) {
  for (std::size_t i = first; i < node.inputs.size(); ++i) {
    if (walk.type(node, i) != walk.type(node, first))
      throw InputError("its operands have different element types");
  }
}

void joined(Walk& walk, const Node& node, const char* kind) {
  check_same_types(walk, node, 0);
  const ValueId a = walk.any(node, 0);
  walk.set(node, nn::binary(walk.graph(), kind, Walk::name_of(node), a, walk.any(node, 1)));
}

/// Comparisons and logic.
void condition(Walk& walk, const Node& node) {
  static const std::map<std::string_view, const char*> kinds = {
      {"And", "logical_and"}, {"Equal", "equal"},
      {"Greater", "greater"}, {"GreaterOrEqual", "greater_or_equal"},
      {"Less", "less"},       {"LessOrEqual", "less_or_equal"},
      {"Or", "logical_or"},   {"Xor", "logical_xor"}};
  joined(walk, node, kinds.at(node.op_type));
}

void logical_not(Walk& walk, const Node& node) {
  walk.set(node, nn::unary(walk.graph(), "logical_not", Walk::name_of(node), walk.any(node, 0)));
}

/// An operand of Where. One that is the same number everywhere need not be stretched in a file.
ValueId choice(Walk& walk, const Node& node, std::size_t i) {
  const Fixed* x = walk.fixed(node, i);
  if (x == nullptr || !x->tensor.fill) return walk.any(node, i);
  const Shape without = broadcast(walk.shape(node, 0), walk.shape(node, 3 - i));
  const Shape shape = broadcast(without, x->tensor.shape) == without ? Shape{} : x->tensor.shape;
  walk.notice("constants of the file stay in RAM and do not train");
  Tensor number;
  number.shape = shape;
  number.fill = x->tensor.fill;
  return walk.constant(fmt::format("{}.{}", Walk::name_of(node), x->name), std::move(number));
}

void where(Walk& walk, const Node& node) {
  if (walk.type(node, 0) != Type::boolean) throw InputError("the condition must be of truth values");
  check_same_types(walk, node, 1);
  const ValueId condition = walk.any(node, 0);
  const ValueId a = choice(walk, node, 1);
  walk.set(node, nn::where(walk.graph(), Walk::name_of(node), condition, a, choice(walk, node, 2)));
}

std::optional<std::int64_t> number(const Walk& walk, const Node& node, std::size_t i) {
  const std::optional<std::int64_t> n = walk.whole_number(node, i);
  if (n && (*n > std::numeric_limits<std::int32_t>::max() || *n < std::numeric_limits<std::int32_t>::min()))
    throw InputError(fmt::format("the number {} does not fit int32, in which poet holds integers", *n));
  return n;
}

/// Add, Sub, Mul of integers. With a known number no constant is needed.
void integer_arithmetic(Walk& walk, const Node& node) {
  check_same_types(walk, node, 0);
  if (walk.type(node, 0) != Type::integer) throw InputError("is for numbers, not for truth values");
  GraphBuilder& g = walk.graph();
  const std::string name = Walk::name_of(node);
  const bool adds = node.op_type == "Add" || node.op_type == "Sum";
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    if (node.inputs.size() != 2) break;
    const std::optional<std::int64_t> known = number(walk, node, 1 - at);
    if (!known || !walk.is_runtime(node, at) || walk.shape(node, 1 - at).size() > walk.shape(node, at).size())
      continue;
    if (*known == (node.op_type == "Mul" ? 1 : 0) && (at == 0 || node.op_type != "Sub")) {
      walk.set(node, walk.operand(node, at));
      return;
    }
    const ValueId x = walk.any(node, at);
    const auto c = static_cast<double>(*known);
    if (adds)
      walk.set(node, nn::scale(g, name, x, 1.0, c));
    else if (node.op_type == "Mul")
      walk.set(node, nn::scale(g, name, x, c));
    else
      walk.set(node, at == 0 ? nn::scale(g, name, x, 1.0, -c) : nn::scale(g, name, x, -1.0, c));
    return;
  }
  ValueId y = walk.any(node, 0);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const std::string step = i + 1 == node.inputs.size() ? name : fmt::format("{}.{}", name, i);
    const ValueId b = walk.any(node, i);
    y = adds                    ? nn::add(g, step, y, b)
        : node.op_type == "Mul" ? nn::mul(g, step, y, b)
                                : nn::sub(g, step, y, b);
  }
  walk.set(node, y);
}

void integer_abs(Walk& walk, const Node& node) {
  walk.set(node, nn::unary(walk.graph(), "abs", Walk::name_of(node), walk.any(node, 0)));
}

void integer_neg(Walk& walk, const Node& node) {
  walk.set(node, nn::neg(walk.graph(), Walk::name_of(node), walk.any(node, 0)));
}

void integer_div(Walk& walk, const Node& node) { joined(walk, node, "int_div"); }

void integer_mod(Walk& walk, const Node& node) {
  if (integer(node, "fmod", 0) != 0) throw InputError("attribute 'fmod'", "must be 0 for integers");
  joined(walk, node, "mod");
}

/// The smaller or larger of integers, as a choice between them.
/// Of real numbers too, where none of them is a known number.
void extremum(Walk& walk, const Node& node) {
  check_same_types(walk, node, 0);
  GraphBuilder& g = walk.graph();
  const std::string name = Walk::name_of(node);
  ValueId y = walk.any(node, 0);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const std::string step = i + 1 == node.inputs.size() ? name : fmt::format("{}.{}", name, i);
    const ValueId b = walk.any(node, i);
    const ValueId first = node.op_type == "Min" ? nn::binary(g, "less", step + ".less", y, b)
                                                : nn::binary(g, "greater", step + ".greater", y, b);
    y = nn::where(g, step, first, y, b);
  }
  walk.set(node, y);
}

void cumsum(Walk& walk, const Node& node) {
  const std::vector<std::int64_t>& axis = walk.known_integers(node, 1);
  if (axis.size() != 1) throw InputError("the axis must be one number");
  const std::size_t along = checked_axis(axis.front(), walk.shape(node, 0).size());
  walk.set(node,
           nn::cumsum(walk.graph(), Walk::name_of(node), walk.any(node, 0), static_cast<std::int64_t>(along),
                      integer(node, "exclusive", 0) != 0, integer(node, "reverse", 0) != 0));
}

/// The smallest is the largest of the negatives.
template <bool smallest>
void argmax(Walk& walk, const Node& node) {
  const std::size_t axis = checked_axis(integer(node, "axis", 0), walk.shape(node, 0).size());
  const std::string name = Walk::name_of(node);
  ValueId x = walk.any(node, 0);
  if (smallest) x = nn::neg(walk.graph(), name + ".negative", x);
  walk.set(node, nn::argmax(walk.graph(), name, x, static_cast<std::int64_t>(axis),
                            integer(node, "keepdims", 1) != 0, integer(node, "select_last_index", 0) != 0));
}

/// Rows that are `on` at a position and `off` elsewhere.
void one_hot(Walk& walk, const Node& node) {
  GraphBuilder& g = walk.graph();
  const std::string name = Walk::name_of(node);
  if (walk.type(node, 0) != Type::integer) throw InputError("the indices must be integers");
  const std::optional<std::int64_t> depth = number(walk, node, 1);
  const Fixed* values = walk.fixed(node, 2);
  if (!depth || *depth < 1) throw InputError("the depth must be a known positive integer");
  if (*depth > kMostIntegers)
    throw InputError(fmt::format("the depth {} is larger than the {} supported", *depth, kMostIntegers));
  if (values == nullptr || values->tensor.shape != Shape{2})
    throw InputError("the two values must be known while importing");
  const Shape ids = walk.shape(node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", -1), ids.size() + 1);
  Shape column = ids;
  column.insert(column.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  Shape classes(ids.size() + 1, 1);
  classes[axis] = *depth;
  const ValueId position = nn::reshape(g, name + ".positions", walk.any(node, 0), column);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(*depth));
  std::iota(numbers.begin(), numbers.end(), 0);
  Tensor each = integer_list(numbers);
  each.shape = classes;
  const ValueId all = walk.constant(name + ".classes", std::move(each));
  const ValueId hit = nn::binary(g, "equal", name + ".hit", position, all);
  const ValueId both = walk.any(node, 2);
  walk.set(node, nn::where(g, name, hit, nn::slice(g, name + ".on", both, {1}, {2}),
                           nn::slice(g, name + ".off", both, {0}, {1})));
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
      {"Not", logical_not},
      {"OneHot", one_hot},
      {"Or", condition},
      {"Where", where},
      {"Xor", condition},
  };
  return entries;
}

const std::vector<OperatorEntry>& integer_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Abs", integer_abs},        {"Add", integer_arithmetic}, {"Div", integer_div},
      {"Max", extremum},           {"Min", extremum},           {"Mod", integer_mod},
      {"Mul", integer_arithmetic}, {"Neg", integer_neg},        {"Sub", integer_arithmetic},
      {"Sum", integer_arithmetic},
  };
  return entries;
}

}  // namespace poet::onnx
