#pragma once

// Graphs made by hand, value by value, for tests of what GraphBuilder cannot produce.

#include <string>
#include <utility>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::test {

/// A persistent value of `bytes` bytes.
inline ValueId add_persistent(Graph& graph, std::string name, std::int64_t bytes = 4,
                              Persistence persistence = Persistence::parameter) {
  Value value;
  value.name = std::move(name);
  value.bytes = Bytes(bytes);
  value.persistence = persistence;
  return graph.values.push_back(std::move(value));
}

/// A value that the op added next will write.
inline ValueId add_output(Graph& graph, std::string name, std::int64_t bytes = 4,
                          Persistence persistence = Persistence::activation) {
  Value value;
  value.name = std::move(name);
  value.bytes = Bytes(bytes);
  value.producer = graph.ops.next_id();
  value.persistence = persistence;
  return graph.values.push_back(std::move(value));
}

/// Of a kind that poet does not know, so that operands may be anything.
inline OpId add_op(Graph& graph, std::string name, std::vector<ValueId> inputs,
                   std::vector<ValueId> outputs) {
  Op op;
  op.name = std::move(name);
  op.kind = "made_up";
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  return graph.ops.push_back(std::move(op));
}

/// An op with one output, which it returns; op and value have the same name.
inline ValueId add_node(Graph& graph, const std::string& name, std::vector<ValueId> inputs,
                        std::int64_t bytes = 4) {
  const ValueId y = add_output(graph, name, bytes);
  add_op(graph, name, std::move(inputs), {y});
  return y;
}

inline OpId add_update(Graph& graph, std::string name, std::vector<ValueId> inputs,
                       std::vector<ValueId> updates) {
  const OpId id = add_op(graph, std::move(name), std::move(inputs), {});
  graph.ops[id].pass = Pass::update;
  graph.ops[id].updates = std::move(updates);
  graph.ops[id].recomputable = false;
  return id;
}

inline ValueId add_alias(Graph& graph, std::string name, ValueId base) {
  Value view = graph.values[base];
  view.name = std::move(name);
  view.producer = OpId();
  view.alias_of = base;
  return graph.values.push_back(std::move(view));
}

}  // namespace poet::test
