#pragma once

// Graphs of one op with given shapes, for tests of what an op does and costs.

#include <string>
#include <utility>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::test {

struct Operand {
  Shape shape;
  DType dtype = DType::float32;
  Persistence persistence = Persistence::activation;
};

inline Operand parameter(Shape shape) { return {std::move(shape), DType::float32, Persistence::parameter}; }
inline Operand state(Shape shape) { return {std::move(shape), DType::float32, Persistence::optimizer_state}; }
inline Operand bytes(Shape shape) { return {std::move(shape), DType::uint8}; }
inline Operand integers(Shape shape) { return {std::move(shape), DType::int32}; }

/// Inputs that are not persistent come from `input` ops of their own; the op in question is the last one.
/// `updates` are positions in `inputs`. Nothing is verified: tests look at ops that do not fit, or in part.
inline Graph one_op(const std::string& kind, const std::vector<Operand>& inputs,
                    const std::vector<Operand>& outputs, Attributes attributes = {},
                    const std::vector<std::size_t>& updates = {}, Pass pass = Pass::forward) {
  Graph graph;
  graph.name = kind;
  const auto add = [&graph](const Operand& operand, const std::string& name) {
    Value value;
    value.name = name;
    value.shape = operand.shape;
    value.dtype = operand.dtype;
    value.persistence = operand.persistence;
    value.bytes = byte_count(operand.shape, operand.dtype);
    return graph.values.push_back(value);
  };
  Op op;
  op.name = "the_op";
  op.kind = kind;
  op.attributes = std::move(attributes);
  op.pass = updates.empty() ? pass : Pass::update;
  op.recomputable = updates.empty();
  for (const Operand& operand : inputs) {
    const ValueId v = add(operand, "in" + std::to_string(op.inputs.size()));
    op.inputs.push_back(v);
    if (is_persistent(operand.persistence)) continue;
    Op source;
    source.name = "source" + std::to_string(v.index);
    source.kind = "input";
    source.outputs = {v};
    source.recomputable = false;
    graph.values[v].producer = graph.ops.push_back(source);
  }
  for (const std::size_t position : updates) op.updates.push_back(op.inputs[position]);
  for (const Operand& operand : outputs) {
    const ValueId v = add(operand, "out" + std::to_string(op.outputs.size()));
    op.outputs.push_back(v);
    graph.values[v].producer = graph.ops.next_id();
  }
  graph.ops.push_back(op);
  return graph;
}

inline OpId last_op(const Graph& graph) { return OpId(graph.ops.size() - 1); }

}  // namespace poet::test
