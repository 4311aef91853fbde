// Arithmetic of real numbers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/frontend/onnx/fuse/patterns.h"
#include "poet/frontend/onnx/fuse/patterns_activations.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Adds x op c or c op x with a known number c.
ValueId with_number(Lowering& net, const Node& node, std::size_t position, double c) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId x = row_major(net, node, position);
  const bool x_first = position == 0;
  if (const Fixed* number = fixed_of(net, node, 1 - position);
      number != nullptr && net.model.initializers.contains(number->name))
    net.notices.add("single numbers that the file stores are constants and do not train");
  if (node.op_type == "Add" || node.op_type == "Sum") return nn::scale(g, name, x, 1.0, c);
  if (node.op_type == "Sub") return x_first ? nn::scale(g, name, x, 1.0, -c) : nn::scale(g, name, x, -1.0, c);
  if (node.op_type == "Mul") return nn::scale(g, name, x, c);
  if (x_first) {
    if (c == 0) throw InputError("divides by zero");
    return nn::scale(g, name, x, 1.0 / c);
  }
  const ValueId inverse = nn::unary(g, "pow", name + ".inverse", x, {{"exponent", -1.0}});
  return c == 1.0 ? inverse : nn::scale(g, name, inverse, c);
}

/// Returns whether the node is x + 0, x - 0, 1 x or x / 1, which exporters write for default factors.
bool changes_nothing(const Node& node, std::size_t position, double c) {
  const bool adds = node.op_type == "Add" || node.op_type == "Sum";
  if (adds || node.op_type == "Sub") return c == 0.0 && (adds || position == 0);
  return c == 1.0 && (node.op_type == "Mul" || position == 0);
}

ValueId two(Lowering& net, const Node& node, const std::string& name, ValueId a, ValueId b) {
  GraphBuilder& g = net.builder;
  if (node.op_type == "Sub") return nn::sub(g, name, a, b);
  if (node.op_type == "Mul") return nn::mul(g, name, a, b);
  if (node.op_type == "Div") return nn::div(g, name, a, b);
  return nn::add(g, name, a, b);
}

void arithmetic(Lowering& net, const Node& node) {
  if (node.attributes.contains("axis")) {
    throw InputError("attribute 'axis'",
                     "of opsets before 7 is not supported; convert the model to a newer one");
  }
  if (node.inputs.size() == 1) return set_result(net, node, operand_of(net, node, 0));
  if (node.inputs.size() == 2) {
    for (const std::size_t position : {std::size_t{0}, std::size_t{1}}) {
      const std::optional<double> number = scalar_of(net, node, 1 - position);
      // If both operands are numbers, one of them is a weight.
      if (!number || (!is_runtime(net, node, position) && scalar_of(net, node, position))) continue;
      const Shape to = broadcast(shape_of(net, node, 0), shape_of(net, node, 1));
      const bool same_shape = to == shape_of(net, node, position);
      if (same_shape && changes_nothing(node, position, *number))
        return set_result(net, node, operand_of(net, node, position));
      if (const Runtime* x = std::get_if<Runtime>(&operand_of(net, node, position))) {
        if (became_gelu(net, node, position) || became_hard_activation(net, node, position, *number)) return;
        const auto factor = factor_of(net, node);
        if (factor && same_shape && x->type == Type::real && feeds_product_only(net, node)) {
          set_result(net, node, Operand{Runtime{x->id, x->scale * factor->second, x->type}});
          return;
        }
      }
      ValueId y = with_number(net, node, position, *number);
      if (net.builder.shape(y) != to) y = nn::reshape(net.builder, name_of(node) + ".shape", y, to);
      set_result(net, node, y);
      return;
    }
  }
  const std::string name = name_of(node);
  ValueId y = row_major(net, node, 0);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const bool last = i + 1 == node.inputs.size();
    y = two(net, node, last ? name : fmt::format("{}.{}", name, i), y, row_major(net, node, i));
  }
  set_result(net, node, y);
}

/// Adds Min or Max: a clip if one operand is a known number, else comparison and selection, as for integers.
void extremum(Lowering& net, const Node& node) {
  if (node.inputs.size() == 1) return set_result(net, node, operand_of(net, node, 0));
  for (const std::size_t position : {std::size_t{0}, std::size_t{1}}) {
    if (node.inputs.size() != 2 || !is_runtime(net, node, position)) continue;
    const std::optional<double> number = scalar_of(net, node, 1 - position);
    if (!number || shape_of(net, node, 1 - position).size() > shape_of(net, node, position).size()) continue;
    const bool maximum = node.op_type == "Max";
    if (*number == (maximum ? -kInfinity : kInfinity))
      return set_result(net, node, operand_of(net, node, position));
    set_result(net, node,
               nn::clip(net.builder, name_of(node), row_major(net, node, position),
                        maximum ? *number : -kInfinity, maximum ? kInfinity : *number));
    return;
  }
  find_operator(node.op_type, true)(net, node);
}

/// Returns the exponent that is the same for all elements, if it is known and adds axes of size 1 at most.
std::optional<double> exponent_of(const Lowering& net, const Node& node) {
  const Fixed* fixed = fixed_of(net, node, 1);
  if (fixed == nullptr || fixed->role.trains) return std::nullopt;
  const Shape x = shape_of(net, node, 0);
  if (element_count(broadcast(x, fixed->tensor.shape)) != element_count(x)) return std::nullopt;
  if (fixed->tensor.type == Type::real)
    return fixed->tensor.fill ? fixed->tensor.fill : scalar_of(net, node, 1);
  const std::optional<std::int64_t> number = whole_number(net, node, 1);
  return number ? std::optional<double>(static_cast<double>(*number)) : std::nullopt;
}

/// Adds exp(p log x), for exponents p that are computed, train or differ.
void power_of_each(Lowering& net, const Node& node) {
  const Fixed* known = fixed_of(net, node, 1);
  if (known != nullptr && !known->role.trains && known->tensor.known &&
      std::all_of(known->tensor.reals.begin(), known->tensor.reals.end(),
                  [](double p) { return p == std::floor(p); }))
    throw InputError(
        "whole exponents that differ are not supported, as the base may be negative; write products");
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  net.notices.add("Pow by exponents that train or differ is exp(p log x): it is NaN where x is negative");
  const ValueId log = nn::unary(g, "log", name + ".log", row_major(net, node, 0));
  set_result(net, node, nn::unary(g, "exp", name, nn::mul(g, name + ".power", log, row_major(net, node, 1))));
}

void power(Lowering& net, const Node& node) {
  const std::optional<double> exponent = exponent_of(net, node);
  if (!exponent) return power_of_each(net, node);
  const Shape to = broadcast(shape_of(net, node, 0), shape_of(net, node, 1));
  const bool same_shape = to == shape_of(net, node, 0);
  if (*exponent == 1.0 && same_shape) return set_result(net, node, operand_of(net, node, 0));
  const std::string name = name_of(node);
  ValueId y = row_major(net, node, 0);
  if (!same_shape) y = nn::reshape(net.builder, name + ".shape", y, to);
  if (*exponent != 1.0) y = nn::unary(net.builder, "pow", name, y, {{"exponent", *exponent}});
  set_result(net, node, y);
}

void neg(Lowering& net, const Node& node) {
  set_result(net, node, nn::neg(net.builder, name_of(node), row_major(net, node, 0)));
}

void reciprocal(Lowering& net, const Node& node) {
  set_result(net, node,
             nn::unary(net.builder, "pow", name_of(node), row_major(net, node, 0), {{"exponent", -1.0}}));
}

}  // namespace

const std::vector<OperatorEntry>& arithmetic_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Add", arithmetic}, {"Div", arithmetic}, {"Max", extremum}, {"Min", extremum},
      {"Mul", arithmetic}, {"Neg", neg},        {"Pow", power},    {"Reciprocal", reciprocal},
      {"Sub", arithmetic}, {"Sum", arithmetic},
  };
  return entries;
}

}  // namespace poet::onnx
