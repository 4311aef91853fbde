#include "poet/frontend/onnx/functions.h"
#include "poet/graph/nn.h"

#include <algorithm>

namespace poet::onnx {

const std::vector<FunctionName>& function_names() {
  static const std::vector<FunctionName> names = {
      {"Abs", "abs"},
      {"Atan", "atan"},
      {"Ceil", "ceil"},
      {"Celu", "celu", {{"alpha", 1.0}}},
      {"Cos", "cos"},
      {"Elu", "elu", {{"alpha", 1.0}}},
      {"Erf", "erf"},
      {"Exp", "exp"},
      {"Floor", "floor"},
      {"HardSigmoid", "hardsigmoid", {{"alpha", 0.2}, {"beta", 0.5}}},
      {"HardSwish", "hardswish", {}, 14},
      {"LeakyRelu", "leaky_relu", {{"alpha", 0.01}}},
      {"Log", "log"},
      {"Mish", "mish", {}, 18},
      {"Relu", "relu"},
      {"Round", "round"},
      {"Selu", "selu", {{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}},
      {"Sigmoid", "sigmoid"},
      {"Sign", "sign"},
      {"Sin", "sin"},
      {"Softplus", "softplus"},
      {"Softsign", "softsign"},
      {"Sqrt", "sqrt"},
      {"Tanh", "tanh"},
      {"ThresholdedRelu", "thresholded_relu", {{"alpha", 1.0}}},
  };
  return names;
}

namespace {

template <class F>
const FunctionName* first(F is_it) {
  const auto found = std::find_if(function_names().begin(), function_names().end(), is_it);
  return found == function_names().end() ? nullptr : &*found;
}

}  // namespace

const FunctionName* find_function(std::string_view op_type) {
  return first([op_type](const FunctionName& name) { return name.op_type == op_type; });
}

const FunctionName* find_function_of(std::string_view kind) {
  return first([kind](const FunctionName& name) { return name.kind == kind; });
}

ValueId add_function(GraphBuilder& graph, const char* op_type, const std::string& name, ValueId x) {
  const FunctionName& function = *find_function(op_type);
  Attributes attributes;
  for (const auto& [attribute, number] : function.attributes) attributes[attribute] = number;
  return nn::unary(graph, function.kind, name, x, std::move(attributes));
}

}  // namespace poet::onnx
