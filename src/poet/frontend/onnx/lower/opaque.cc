#include "poet/frontend/onnx/lower/opaque.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/frontend/onnx/read/infer_types.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// What libonnx is told of an operand.
Tensor described(const Walk& walk, const Node& node, std::size_t i) {
  const Operand& x = walk.operand(node, i);
  if (const Fixed* known = std::get_if<Fixed>(&x)) return known->tensor;
  Tensor tensor;
  tensor.type = std::get<Runtime>(x).type;
  tensor.type_name = tensor.type == Type::real ? "float" : tensor.type == Type::integer ? "int64" : "bool";
  tensor.shape = walk.shape(node, i);
  return tensor;
}

nn::TensorType stored(const Tensor& tensor) {
  if (tensor.type == Type::other) throw InputError(fmt::format("writes values of type {}", tensor.type_name));
  return {tensor.shape, dtype_of(tensor.type)};
}

/// With `inferred` from libonnx, which knows the batch size; else as the file says.
nn::TensorType output_type(const Walk& walk, const std::string& name, const std::optional<Tensor>& inferred,
                           const std::string& cause) {
  const std::optional<Tensor> type = inferred ? inferred : walk.declared(name);
  if (!type) {
    throw InputError(
        fmt::format("{}cannot be opaque: neither libonnx nor the file (value_info) tells the shape of its "
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

void add_opaque(Walk& walk, const Node& node, const std::string& reason) {
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
    if (!walk.has(node, i)) continue;
    known[i] = described(walk, node, i);
    described_inputs[i] = &known[i];
    // Integers that are known are part of the operator.
    if (walk.is_runtime(node, i) || known[i].type == Type::real) inputs.push_back(walk.any(node, i));
  }
  const std::vector<std::optional<Tensor>> inferred =
      walk.type_inference().infer(node, described_inputs, walk.opset());
  std::vector<nn::TensorType> outputs;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) outputs.push_back(output_type(walk, node.outputs[i], inferred[i], cause));
  }
  const std::vector<ValueId> made =
      nn::opaque(walk.graph(), Walk::name_of(node), operator_name(node), inputs, outputs);
  std::size_t next = 0;
  for (const std::string& output : node.outputs) {
    if (output.empty()) continue;
    walk.set_output(output, walk.runtime(made[next++]));
  }
  walk.notice(
      fmt::format("{} is opaque to poet{}: it is never recomputed, everything that it reads and writes is "
                  "kept for its gradient, and its cost is a guess of one operation per element",
                  operator_name(node), reason.empty() ? "" : fmt::format(" ({})", reason)));
}

}  // namespace poet::onnx
