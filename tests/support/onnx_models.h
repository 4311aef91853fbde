#pragma once

// Small ONNX models by hand, as the importer sees them after parsing.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "poet/frontend/onnx/model.h"

namespace poet::test {

inline onnx::Node onnx_node(const std::string& op_type, std::vector<std::string> inputs,
                            std::vector<std::string> outputs,
                            std::map<std::string, onnx::AttributeValue> attributes = {}) {
  onnx::Node node;
  node.op_type = op_type;
  node.name = outputs.front();
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

/// Real numbers; without contents only a shape, as of a weight.
inline onnx::Tensor onnx_reals(const Shape& shape, std::vector<double> contents = {}) {
  onnx::Tensor tensor;
  tensor.shape = shape;
  tensor.known = !contents.empty();
  tensor.reals = std::move(contents);
  const bool uniform = std::all_of(tensor.reals.begin(), tensor.reals.end(),
                                   [&](double x) { return x == tensor.reals.front(); });
  if (tensor.known && uniform) tensor.fill = tensor.reals.front();
  return tensor;
}

inline onnx::Tensor onnx_integers(std::vector<std::int64_t> contents) {
  onnx::Tensor tensor;
  tensor.type = onnx::Type::integer;
  tensor.type_name = "int64";
  tensor.shape = {static_cast<std::int64_t>(contents.size())};
  tensor.known = true;
  tensor.integers = std::move(contents);
  return tensor;
}

/// One float input "x"; -1 leaves a dimension open. The output is the last node's.
inline onnx::Model onnx_model(const Shape& x, std::map<std::string, onnx::Tensor> initializers,
                              std::vector<onnx::Node> nodes, std::int64_t opset = 17) {
  onnx::Model model;
  model.name = "small";
  model.opset = opset;
  onnx::Declaration input;
  input.name = "x";
  input.type_name = "float";
  input.shape.emplace();
  for (const std::int64_t size : x) {
    onnx::Dimension dimension;
    if (size >= 0) dimension.size = size;
    if (size < 0) dimension.symbol = "open";
    input.shape->push_back(dimension);
  }
  model.inputs = {input};
  model.initializers = std::move(initializers);
  model.nodes = std::move(nodes);
  for (std::size_t i = 0; i < model.nodes.size(); ++i) model.nodes[i].index = i;
  model.outputs = {model.nodes.back().outputs.front()};
  return model;
}

}  // namespace poet::test
