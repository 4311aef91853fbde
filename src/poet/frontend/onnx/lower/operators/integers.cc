// Arithmetic of integers.

#include <fmt/format.h>

#include <limits>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {

void check_same_types(const Lowering& net, const Node& node, std::size_t first) {
  for (std::size_t i = first; i < node.inputs.size(); ++i) {
    if (type_of(net, node, i) != type_of(net, node, first))
      throw InputError("its operands have different element types");
  }
}

void joined(Lowering& net, const Node& node, const char* kind) {
  check_same_types(net, node, 0);
  const ValueId a = any_value(net, node, 0);
  set_result(net, node, nn::binary(net.builder, kind, name_of(node), a, any_value(net, node, 1)));
}

std::optional<std::int64_t> whole_int32(const Lowering& net, const Node& node, std::size_t i) {
  const std::optional<std::int64_t> n = whole_number(net, node, i);
  if (n && (*n > std::numeric_limits<std::int32_t>::max() || *n < std::numeric_limits<std::int32_t>::min()))
    throw InputError(fmt::format("the number {} does not fit int32, in which poet holds integers", *n));
  return n;
}

namespace {

/// Adds Add, Sub or Mul of integers; a known number becomes an attribute.
void integer_arithmetic(Lowering& net, const Node& node) {
  check_same_types(net, node, 0);
  if (type_of(net, node, 0) != Type::integer) throw InputError("is for numbers, not for truth values");
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const bool adds = node.op_type == "Add" || node.op_type == "Sum";
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    if (node.inputs.size() != 2) break;
    const std::optional<std::int64_t> known = whole_int32(net, node, 1 - at);
    if (!known || !is_runtime(net, node, at) ||
        shape_of(net, node, 1 - at).size() > shape_of(net, node, at).size())
      continue;
    if (*known == (node.op_type == "Mul" ? 1 : 0) && (at == 0 || node.op_type != "Sub"))
      return set_result(net, node, operand_of(net, node, at));
    const ValueId x = any_value(net, node, at);
    const auto c = static_cast<double>(*known);
    if (adds)
      set_result(net, node, nn::scale(g, name, x, 1.0, c));
    else if (node.op_type == "Mul")
      set_result(net, node, nn::scale(g, name, x, c));
    else
      set_result(net, node, at == 0 ? nn::scale(g, name, x, 1.0, -c) : nn::scale(g, name, x, -1.0, c));
    return;
  }
  ValueId y = any_value(net, node, 0);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const std::string step = i + 1 == node.inputs.size() ? name : fmt::format("{}.{}", name, i);
    const ValueId b = any_value(net, node, i);
    y = adds                    ? nn::add(g, step, y, b)
        : node.op_type == "Mul" ? nn::mul(g, step, y, b)
                                : nn::sub(g, step, y, b);
  }
  set_result(net, node, y);
}

/// Adds a Clip of integers, as selections.
void integer_clip(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  ValueId y = any_value(net, node, 0);
  if (has_input(node, 1)) {
    const ValueId least = any_value(net, node, 1);
    y = nn::where(g, name + ".least", nn::binary(g, "greater", name + ".above", y, least), y, least);
  }
  if (has_input(node, 2)) {
    const ValueId most = any_value(net, node, 2);
    y = nn::where(g, name + ".most", nn::binary(g, "less", name + ".below", y, most), y, most);
  }
  set_result(net, node, y);
}

void integer_abs(Lowering& net, const Node& node) {
  set_result(net, node, nn::unary(net.builder, "abs", name_of(node), any_value(net, node, 0)));
}

void integer_neg(Lowering& net, const Node& node) {
  set_result(net, node, nn::neg(net.builder, name_of(node), any_value(net, node, 0)));
}

void integer_div(Lowering& net, const Node& node) { joined(net, node, "int_div"); }

void integer_mod(Lowering& net, const Node& node) {
  if (integer(node, "fmod", 0) != 0) throw InputError("attribute 'fmod'", "must be 0 for integers");
  joined(net, node, "mod");
}

/// Adds Min or Max of several tensors, none of them a known number, as selections between two.
void chosen_extremum(Lowering& net, const Node& node) {
  check_same_types(net, node, 0);
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  ValueId y = any_value(net, node, 0);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const std::string step = i + 1 == node.inputs.size() ? name : fmt::format("{}.{}", name, i);
    const ValueId b = any_value(net, node, i);
    const ValueId first = node.op_type == "Min" ? nn::binary(g, "less", step + ".less", y, b)
                                                : nn::binary(g, "greater", step + ".greater", y, b);
    y = nn::where(g, step, first, y, b);
  }
  set_result(net, node, y);
}

}  // namespace

const std::vector<OperatorEntry>& integer_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Abs", integer_abs},        {"Add", integer_arithmetic}, {"Clip", integer_clip},
      {"Div", integer_div},        {"Max", chosen_extremum},    {"Min", chosen_extremum},
      {"Mod", integer_mod},        {"Mul", integer_arithmetic}, {"Neg", integer_neg},
      {"Sub", integer_arithmetic}, {"Sum", integer_arithmetic},
  };
  return entries;
}

}  // namespace poet::onnx
