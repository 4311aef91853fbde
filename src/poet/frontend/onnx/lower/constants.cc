#include "poet/frontend/onnx/lower/constants.h"

#include <fmt/format.h>

#include <map>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/rules.h"

namespace poet::onnx {
namespace constants {
namespace {

using Rule = Tensor (*)(const Node&, const Operands&, std::int64_t);

struct Entry {
  Rule rule;
  std::size_t least_inputs;
};

const std::map<std::string, Entry>& rules() {
  static const std::map<std::string, Entry> table = {
      {"Abs", {unary, 1}},
      {"Add", {binary, 2}},
      {"And", {binary, 2}},
      {"Cast", {cast, 1}},
      {"Ceil", {unary, 1}},
      {"Clip", {clip, 1}},
      {"Concat", {concat, 1}},
      {"Constant", {constant, 0}},
      {"ConstantOfShape", {constant_of_shape, 1}},
      {"Div", {binary, 2}},
      {"Equal", {binary, 2}},
      {"Exp", {unary, 1}},
      {"Expand", {expand, 2}},
      {"Floor", {unary, 1}},
      {"Gather", {gather, 2}},
      {"Greater", {binary, 2}},
      {"GreaterOrEqual", {binary, 2}},
      {"Identity", {identity, 1}},
      {"Less", {binary, 2}},
      {"LessOrEqual", {binary, 2}},
      {"Log", {unary, 1}},
      {"Max", {binary, 1}},
      {"Min", {binary, 1}},
      {"Mod", {binary, 2}},
      {"Mul", {binary, 2}},
      {"Neg", {unary, 1}},
      {"Not", {unary, 1}},
      {"Or", {binary, 2}},
      {"Pow", {binary, 2}},
      {"Range", {range, 3}},
      {"Reciprocal", {unary, 1}},
      {"ReduceProd", {product, 1}},
      {"Reshape", {reshape, 1}},
      {"Slice", {slice, 1}},
      {"Sqrt", {unary, 1}},
      {"Squeeze", {squeeze, 1}},
      {"Sub", {binary, 2}},
      {"Transpose", {transpose, 1}},
      {"Unsqueeze", {unsqueeze, 1}},
      {"Where", {where, 3}},
      {"Xor", {binary, 2}},
      {"Sin", {unary, 1}},
      {"Cos", {unary, 1}},
  };
  return table;
}

/// Rules of operators that read or write elements by position.
const std::map<std::string, Entry>& position_rules() {
  static const std::map<std::string, Entry> table = {
      {"CumSum", {cumsum, 2}},        {"GatherElements", {gather_elements, 2}},
      {"GatherND", {gather_nd, 2}},   {"ScatterElements", {scatter_elements, 3}},
      {"ScatterND", {scatter_nd, 3}}, {"Tile", {tile, 2}},
      {"Trilu", {trilu, 1}},
  };
  return table;
}

/// Returns the operator's entry, or null if it has none.
const Entry* find(const std::string& op_type) {
  for (const auto* table : {&rules(), &position_rules()}) {
    const auto found = table->find(op_type);
    if (found != table->end()) return &found->second;
  }
  return nullptr;
}

}  // namespace
}  // namespace constants

bool is_evaluated(const std::string& op_type) { return constants::find(op_type) != nullptr; }

std::optional<Tensor> evaluate(const Node& node, const Operands& inputs, std::int64_t opset) {
  const constants::Entry* entry = constants::find(node.op_type);
  if (entry == nullptr || !node.domain.empty()) return std::nullopt;
  if (inputs.size() < entry->least_inputs) {
    throw InputError(fmt::format("has {} inputs but needs {}", inputs.size(), entry->least_inputs));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // Lists of axes, shapes or positions are integers in all of these operators.
    const bool lists = node.op_type == "Reshape" || node.op_type == "Squeeze" ||
                       node.op_type == "Unsqueeze" || node.op_type == "Slice" || node.op_type == "Gather" ||
                       node.op_type == "Expand" || node.op_type == "Trilu" || node.op_type == "Tile";
    if (i < node.inputs.size() && node.inputs[i].empty()) {
      if ((lists || node.op_type == "ReduceProd" || node.op_type == "Clip") && i >= entry->least_inputs)
        continue;
      throw InputError(fmt::format("input {} must not be left out", i));
    }
    if (inputs[i] == nullptr || !inputs[i]->known || inputs[i]->type == Type::other) return std::nullopt;
    if ((lists && i > 0 ? true : node.op_type == "ConstantOfShape") && inputs[i]->type != Type::integer) {
      throw InputError(fmt::format("input {} must hold integers", i));
    }
  }
  if (entry->rule != constants::binary || inputs.size() == 2) return entry->rule(node, inputs, opset);
  Tensor result = *inputs[0];  // of Min and Max, which take any number of operands
  for (std::size_t i = 1; i < inputs.size(); ++i)
    result = constants::binary(node, {&result, inputs[i]}, opset);
  return result;
}

}  // namespace poet::onnx
