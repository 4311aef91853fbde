#include "poet/autodiff/mixed_precision.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace poet {
namespace {

using Flags = IdVector<ValueId, char>;  // of storages

/// Parameters, and every value that depends on one.
Flags dependent_on_parameters(const Graph& graph, const IdVector<ValueId, ValueId>& storage_of) {
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

/// Whether the op computes integers or truth values. A pool's indices and a dropout's mask come beside a
/// result in float32: they do not count.
bool makes_integers(const Graph& graph, const Op& op) {
  return !op.outputs.empty() && graph.values[op.outputs.front()].dtype != DType::float32;
}

/// Values that integers or truth values are computed of and that depend on no parameter.
Flags needed_exactly(const Graph& graph, const IdVector<ValueId, ValueId>& storage_of) {
  const Flags learned = dependent_on_parameters(graph, storage_of);
  Flags needed(graph.values.size(), 0);
  for (std::size_t i = graph.ops.size(); i > 0; --i) {
    const Op& op = graph.ops[OpId(static_cast<std::int32_t>(i - 1))];
    const auto is_needed = [&](ValueId v) { return needed[v] != 0; };
    if (!makes_integers(graph, op) && !std::any_of(op.outputs.begin(), op.outputs.end(), is_needed)) continue;
    for (const ValueId v : op.inputs)
      if (learned[storage_of[v]] == 0) needed[storage_of[v]] = 1;
  }
  return needed;
}

}  // namespace

Graph in_mixed_precision(Graph training) {
  verify(training);
  const IdVector<ValueId, ValueId> storage_of = storages(training);
  const Flags exact = needed_exactly(training, storage_of);
  for (const Op& op : training.ops) {
    for (std::size_t i = 0; i < outputs_in_bfloat16(op); ++i) {
      Value& value = training.values[op.outputs[i]];
      const bool rounds = value.dtype == DType::float32 && value.persistence == Persistence::activation &&
                          element_count(value.shape) > 1 && exact[op.outputs[i]] == 0;
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
