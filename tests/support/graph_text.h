#pragma once

// Ops as lines of text, so that a test can state a whole graph and a failure shows one.

#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/graph/graph.h"

namespace poet::test {

/// "name kind(inputs) -> outputs ! updates"; the last two only where there are any.
inline std::string text(const Graph& graph, const Op& op) {
  const auto list = [&](const std::vector<ValueId>& values) {
    std::string result;
    for (const ValueId v : values) result += (result.empty() ? "" : ", ") + graph.values[v].name;
    return result;
  };
  std::string line = op.name + " " + op.kind + "(" + list(op.inputs) + ")";
  if (!op.outputs.empty()) line += " -> " + list(op.outputs);
  if (!op.updates.empty()) line += " ! " + list(op.updates);
  return line;
}

/// The ops from the first backward op on: what differentiate() has added.
inline std::vector<std::string> added_ops(const Graph& training) {
  std::vector<std::string> lines;
  for (const Op& op : training.ops) {
    if (op.pass == Pass::backward || !lines.empty()) lines.push_back(text(training, op));
  }
  return lines;
}

/// The kinds of the ops, in order.
inline std::vector<std::string> kinds(const Graph& graph) {
  std::vector<std::string> out;
  for (const Op& op : graph.ops) out.push_back(op.kind);
  return out;
}

/// The first op of this kind; throws where there is none.
inline const Op& op_of_kind(const Graph& graph, const std::string& kind) {
  for (const Op& op : graph.ops)
    if (op.kind == kind) return op;
  throw InputError("no op of kind " + kind);
}

/// The op, the value of this name; throw where there is none.
inline const Op& op_named(const Graph& graph, const std::string& name) {
  for (const Op& op : graph.ops)
    if (op.name == name) return op;
  throw InputError("no op " + name);
}
inline const Value& value_named(const Graph& graph, const std::string& name) {
  for (const Value& value : graph.values)
    if (value.name == name) return value;
  throw InputError("no value " + name);
}

inline std::vector<Shape> shapes(const Graph& graph, const std::vector<ValueId>& list) {
  std::vector<Shape> result;
  for (const ValueId v : list) result.push_back(graph.values[v].shape);
  return result;
}

/// The value of this name; invalid when there is none.
inline ValueId find_value(const Graph& graph, const std::string& name) {
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    if (graph.values[v].name == name) return v;
  }
  return {};
}

/// The op of this name; invalid when there is none.
inline OpId find_op(const Graph& graph, const std::string& name) {
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    if (graph.ops[op].name == name) return op;
  }
  return {};
}

/// Makes input `position` of op `op` the value `with`: how tests tie parameters together.
inline void replace_input(Graph& graph, const std::string& op, std::size_t position,
                          const std::string& with) {
  graph.ops[find_op(graph, op)].inputs.at(position) = find_value(graph, with);
}

}  // namespace poet::test
