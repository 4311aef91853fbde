// Functions of one operand, softmax, dropout.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/frontend/onnx/functions.h"
#include "poet/frontend/onnx/fuse/patterns_activations.h"
#include "poet/frontend/onnx/fuse/patterns_softmax_guard.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"
#include "poet/graph/operators/schema.h"

namespace poet::onnx {
namespace {

/// Adds the op that the table of functions has for the operator.
void function(Lowering& net, const Node& node) {
  const FunctionName& name = *find_function(node.op_type);
  // Step functions have no gradient.
  if (poet::find_operator(name.kind + std::string("_backward")) == nullptr)
    net.notices.add("no gradient flows through " + node.op_type);
  Attributes attributes;
  for (const auto& [attribute, otherwise] : name.attributes)
    attributes[attribute] = real(node, attribute, otherwise);
  set_result(net, node,
             nn::unary(net.builder, name.kind, name_of(node), row_major(net, node, 0), attributes));
}

/// Adds the fused operator if the node begins its pattern, else the node's own.
template <bool (*kBecame)(Lowering&, const Node&)>
void unless_part(Lowering& net, const Node& node) {
  if (!kBecame(net, node)) function(net, node);
}

void prelu(Lowering& net, const Node& node) {
  const ValueId x = row_major(net, node, 0);
  set_result(net, node, nn::prelu(net.builder, name_of(node), x, row_major(net, node, 1)));
}

/// Adds the larger of x and a bound that trains or that the step computes, or the smaller.
ValueId bounded(Lowering& net, const Node& node, const std::string& name, ValueId x, std::size_t bound) {
  GraphBuilder& g = net.builder;
  if (type_of(net, node, bound) != Type::real || element_count(shape_of(net, node, bound)) != 1)
    throw InputError("the bounds must be single real numbers");
  const ValueId limit = any_value(net, node, bound);
  const ValueId inside = bound == 1 ? nn::binary(g, "greater", name + ".above", x, limit)
                                    : nn::binary(g, "less", name + ".below", x, limit);
  return nn::where(g, name, inside, x, limit);
}

void clip(Lowering& net, const Node& node) {
  double minimum = real(node, "min", -kInfinity);
  double maximum = real(node, "max", kInfinity);
  const auto is_known = [&](std::size_t i, double& to) {
    if (!has_input(node, i)) return true;
    const std::optional<double> number = scalar_of(net, node, i);
    if (number) to = *number;
    return number.has_value();
  };
  const bool has_minimum = is_known(1, minimum), has_maximum = is_known(2, maximum);
  if (!has_minimum || !has_maximum) {
    const std::string name = name_of(node);
    ValueId y = row_major(net, node, 0);
    y = has_minimum ? nn::clip(net.builder, name + ".least", y, minimum, kInfinity)
                    : bounded(net, node, has_maximum ? name + ".least" : name + ".greater", y, 1);
    return set_result(
        net, node,
        has_maximum ? nn::clip(net.builder, name, y, -kInfinity, maximum) : bounded(net, node, name, y, 2));
  }
  if (minimum <= std::numeric_limits<float>::lowest()) minimum = -kInfinity;
  if (maximum >= std::numeric_limits<float>::max()) maximum = kInfinity;
  if (minimum == -kInfinity && maximum == kInfinity) return set_result(net, node, operand_of(net, node, 0));
  set_result(net, node, nn::clip(net.builder, name_of(node), row_major(net, node, 0), minimum, maximum));
}

/// Adds x (1 + tanh z) / 2 with z = sqrt(2 / pi) (x + 0.044715 x^3), as x sigmoid(2 z).
void gelu_by_tanh(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const ValueId x = row_major(net, node, 0);
  const double twice = 2.0 * std::sqrt(2.0 / std::numbers::pi);
  const ValueId squares = nn::unary(g, "pow", name + ".squares", x, {{"exponent", 2.0}});
  const ValueId slope = nn::scale(g, name + ".slope", squares, 0.044715 * twice, twice);
  const ValueId gate = nn::unary(g, "sigmoid", name + ".gate", nn::mul(g, name + ".z", x, slope));
  set_result(net, node, nn::mul(g, name, x, gate));
}

void gelu(Lowering& net, const Node& node) {
  const std::string form = text(node, "approximate", "none");
  if (form == "tanh") return gelu_by_tanh(net, node);
  if (form != "none") throw InputError("attribute 'approximate'", fmt::format("'{}' is not known", form));
  set_result(net, node, nn::gelu(net.builder, name_of(node), row_major(net, node, 0)));
}

void softmax(Lowering& net, const Node& node) {
  if (node.op_type == "Softmax" && became_guarded_softmax(net, node)) return;
  GraphBuilder& g = net.builder;
  const Shape x = shape_of(net, node, 0);
  const std::size_t axis = checked_axis(integer(node, "axis", net.model.opset < 13 ? 1 : -1), x.size());
  const std::string name = name_of(node);
  const auto of_rows = [&](ValueId rows) {
    return node.op_type == "Softmax" ? nn::softmax(g, name, rows) : nn::log_softmax(g, name, rows);
  };
  if (axis + 1 == x.size()) return set_result(net, node, of_rows(row_major(net, node, 0)));
  if (net.model.opset < 13) {  // over all axes from this one on
    const auto split = x.begin() + static_cast<std::ptrdiff_t>(axis);
    const Shape matrix = {element_count(Shape(x.begin(), split)), element_count(Shape(split, x.end()))};
    const ValueId flat = nn::reshape(g, name + ".flat", row_major(net, node, 0), matrix);
    set_result(net, node, nn::reshape(g, name + ".shape", of_rows(flat), x));
    return;
  }
  std::vector<std::int64_t> last;  // swaps the axis with the last one, and back
  for (std::size_t i = 0; i < x.size(); ++i) last.push_back(static_cast<std::int64_t>(i));
  std::swap(last[axis], last.back());
  const ValueId rows = nn::transpose(g, name + ".rows", value_of(net, node, 0), last);
  set_result(net, node, nn::permute(g, name + ".shape", of_rows(rows), last));
}

void dropout(Lowering& net, const Node& node) {
  double ratio = real(node, "ratio", 0.5);
  if (has_input(node, 1)) {
    const std::optional<double> number = scalar_of(net, node, 1);
    if (!number) throw InputError("the ratio must be a known real number");
    ratio = *number;
  }
  if (ratio == 0.0) return set_result(net, node, operand_of(net, node, 0));
  const bool training = has_input(node, 2) && whole_number(net, node, 2).value_or(0) != 0;
  if (!training) net.notices.add("Dropout of an inference export was put back into training mode");
  set_result(net, node, nn::dropout(net.builder, name_of(node), row_major(net, node, 0), ratio));
}

}  // namespace

const std::vector<OperatorEntry>& activation_operators() {
  static const std::vector<OperatorEntry> entries = [] {
    std::vector<OperatorEntry> all = {
        {"Clip", clip},
        {"Dropout", dropout},
        {"Gelu", gelu},
        {"HardSigmoid", unless_part<&became_hard_swish>},
        {"LogSoftmax", softmax},
        {"PRelu", prelu},
        {"Relu", unless_part<&became_clip>},
        {"Sigmoid", unless_part<&became_silu>},
        {"Softmax", softmax},
        {"Softplus", unless_part<&became_mish>},
    };
    for (const FunctionName& name : function_names()) {
      const bool special = std::any_of(all.begin(), all.end(), [&name](const OperatorEntry& entry) {
        return std::string_view(entry.op_type) == name.op_type;
      });
      if (!special) all.push_back({name.op_type, function});
    }
    return all;
  }();
  return entries;
}

}  // namespace poet::onnx
