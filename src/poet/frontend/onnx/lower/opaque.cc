#include "poet/frontend/onnx/lower/opaque.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/constants/shape_rules.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns the description of an operand for libonnx.
Tensor described(const Lowering& net, const Node& node, std::size_t i) {
  const Operand& x = operand_of(net, node, i);
  if (const Fixed* known = std::get_if<Fixed>(&x)) return known->tensor;
  Tensor tensor;
  tensor.type = std::get<Runtime>(x).type;
  tensor.type_name = tensor.type == Type::real ? "float" : tensor.type == Type::integer ? "int64" : "bool";
  tensor.shape = shape_of(net, node, i);
  return tensor;
}

nn::TensorType stored(const Tensor& tensor) {
  if (tensor.type == Type::other) throw InputError(fmt::format("writes values of type {}", tensor.type_name));
  return {tensor.shape, dtype_of(tensor.type)};
}

/// Returns the output's type as inferred by libonnx for the actual batch size, or as declared in the file.
nn::TensorType output_type(const Lowering& net, const std::string& name,
                           const std::optional<Tensor>& inferred, const std::string& cause) {
  const std::optional<Tensor> type = inferred ? inferred : declared(net.model, net.sizes, name);
  if (!type) {
    throw InputError(
        fmt::format("{}cannot be opaque: neither libonnx nor the file (value_info) states the shape of its "
                    "output '{}'",
                    cause, name));
  }
  if (std::any_of(type->shape.begin(), type->shape.end(), [](std::int64_t d) { return d < 1; }))
    throw InputError(
        fmt::format("{}cannot be opaque: its output '{}' is {}", cause, name, shown(type->shape)));
  return stored(*type);
}

}  // namespace

std::string operator_name(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
}

void add_opaque(Lowering& net, const Node& node, const std::string& reason) {
  const std::string cause = reason.empty() ? "" : reason + "; and it ";
  const auto subgraph = std::find_if(node.attributes.begin(), node.attributes.end(), [](const auto& entry) {
    return std::holds_alternative<OtherAttribute>(entry.second);
  });
  if (subgraph != node.attributes.end()) {
    throw InputError(fmt::format("attribute '{}'", subgraph->first),
                     "is no number, text or tensor: operators with subgraphs cannot be opaque");
  }
  std::vector<Tensor> known(node.inputs.size());
  std::vector<const Tensor*> described_inputs(node.inputs.size(), nullptr);
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!has_input(node, i)) continue;
    known[i] = described(net, node, i);
    described_inputs[i] = &known[i];
    // Known integers are part of the operator.
    if (is_runtime(net, node, i) || known[i].type == Type::real) inputs.push_back(any_value(net, node, i));
  }
  const std::vector<std::optional<Tensor>> inferred =
      net.type_inference.infer(node, described_inputs, net.model.opset);
  std::vector<nn::TensorType> outputs;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) outputs.push_back(output_type(net, node.outputs[i], inferred[i], cause));
  }
  const std::vector<ValueId> made =
      nn::opaque(net.builder, name_of(node), operator_name(node), inputs, outputs);
  std::size_t next = 0;
  for (const std::string& output : node.outputs) {
    if (output.empty()) continue;
    net.operands[output] = runtime_of(net.builder, made[next++]);
  }
  net.notices.add(
      fmt::format("{} is opaque to poet{}: it is never recomputed, everything that it reads and writes is "
                  "kept for its gradient, and its cost is a guess of one operation per element",
                  operator_name(node), reason.empty() ? "" : fmt::format(" ({})", reason)));
}

}  // namespace poet::onnx
