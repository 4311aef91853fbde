#include "poet/autodiff/mixed_precision.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "poet/graph/operators/schema.h"

namespace poet {
namespace {

using Flags = IdVector<ValueId, char>;  // of storages

/// How many of an op's first outputs are rounded when they are stored.
std::size_t outputs_to_round(const Op& op) {
  constexpr std::array<std::string_view, 3> kWithStatistics = {"batch_norm", "layer_norm", "group_norm"};
  if (op.pass == Pass::update || op.kind == "input" || is_loss(op)) return 0;
  if (find_operator(op.kind) == nullptr || op.kind.starts_with("opaque")) return 0;
  if (std::ranges::count(kWithStatistics, op.kind) > 0) return 1;
  return op.outputs.size();
}

/// What a parameter takes part in.
Flags of_parameters(const Graph& graph, const IdVector<ValueId, ValueId>& storage_of) {
  Flags found(graph.values.size(), 0);
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    found[v] = graph.values[v].persistence == Persistence::parameter ? 1 : 0;
  for (const Op& op : graph.ops) {
    const auto has = [&](ValueId v) { return found[storage_of[v]] != 0; };
    if (!std::any_of(op.inputs.begin(), op.inputs.end(), has)) continue;
    for (const ValueId v : op.outputs) found[v] = 1;
  }
  return found;
}

/// An integer or truth value whose exact operands decide it: not a pool's indices or a dropout's mask, which
/// come beside a result.
bool decides(const Graph& graph, const Op& op) {
  return !op.outputs.empty() && graph.values[op.outputs.front()].dtype != DType::float32;
}

/// What integers and truth values are made of, but for what parameters take part in.
Flags exact(const Graph& graph, const IdVector<ValueId, ValueId>& storage_of) {
  const Flags learned = of_parameters(graph, storage_of);
  Flags found(graph.values.size(), 0);
  for (std::size_t i = graph.ops.size(); i > 0; --i) {
    const Op& op = graph.ops[OpId(static_cast<std::int32_t>(i - 1))];
    const auto is_exact = [&](ValueId v) { return found[v] != 0; };
    if (!decides(graph, op) && !std::any_of(op.outputs.begin(), op.outputs.end(), is_exact)) continue;
    for (const ValueId v : op.inputs)
      if (learned[storage_of[v]] == 0) found[storage_of[v]] = 1;
  }
  return found;
}

}  // namespace

Graph in_mixed_precision(Graph training) {
  verify(training);
  const IdVector<ValueId, ValueId> storage_of = storages(training);
  const Flags exact_ones = exact(training, storage_of);
  for (const Op& op : training.ops) {
    for (std::size_t i = 0; i < outputs_to_round(op); ++i) {
      Value& value = training.values[op.outputs[i]];
      const bool rounds = value.dtype == DType::float32 && value.persistence == Persistence::activation &&
                          element_count(value.shape) > 1 && exact_ones[op.outputs[i]] == 0;
      if (!rounds) continue;
      value.dtype = DType::bfloat16;
      value.bytes = byte_count(value.shape, value.dtype);
    }
  }
  for (const ValueId v : ids<ValueId>(training.values.size())) {
    training.values[v].dtype = training.values[storage_of[v]].dtype;
    training.values[v].bytes = training.values[storage_of[v]].bytes;
  }
  return verified(std::move(training));
}

}  // namespace poet
