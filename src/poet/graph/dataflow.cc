#include "poet/graph/dataflow.h"

#include <algorithm>

namespace poet {

namespace {

void sort_unique(std::vector<ValueId>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

Dataflow dataflow(const Graph& graph) {
  const std::size_t op_count = graph.ops.size();
  const std::size_t value_count = graph.values.size();
  const IdVector<ValueId, ValueId> storage_of = storages(graph);

  Dataflow flow;
  flow.reads = IdVector<OpId, std::vector<ValueId>>(op_count);
  flow.writes = IdVector<OpId, std::vector<ValueId>>(op_count);
  flow.changes = IdVector<OpId, std::vector<ValueId>>(op_count);
  flow.users = IdVector<ValueId, std::vector<OpId>>(value_count);
  flow.producer = IdVector<ValueId, OpId>(value_count);
  flow.last_recompute = IdVector<OpId, OpId>(op_count);
  flow.is_paged = IdVector<ValueId, char>(value_count, 0);

  for (const ValueId v : ids<ValueId>(value_count)) {
    const Value& value = graph.values[v];
    if (value.paged) {
      flow.paged.push_back(v);
      flow.is_paged[v] = 1;
    }
    if (value.alias_of.valid() || is_persistent(value.persistence)) continue;
    flow.transients.push_back(v);
    flow.producer[v] = value.producer;
  }

  IdVector<ValueId, OpId> update(value_count);
  for (const OpId op : ids<OpId>(op_count)) {
    for (const ValueId v : graph.ops[op].updates) update[storage_of[v]] = op;
  }

  const OpId last_op = op_count == 0 ? OpId() : OpId(op_count - 1);
  for (const OpId id : ids<OpId>(op_count)) {
    const Op& op = graph.ops[id];
    // Stage t recomputes first and runs op t last: in the stage of the update itself the old value is still
    // there.
    OpId limit = op.recomputable ? last_op : id;
    for (const ValueId v : op.inputs) {
      const ValueId source = storage_of[v];
      if (flow.movable(source)) flow.reads[id].push_back(source);
      if (update[source].valid()) limit = std::min(limit, update[source]);
    }
    for (const ValueId v : op.updates) {
      const ValueId source = storage_of[v];
      if (!flow.is_paged[source]) continue;
      flow.changes[id].push_back(source);
      flow.reads[id].push_back(source);
    }
    flow.last_recompute[id] = limit;
    flow.writes[id] = op.outputs;
    sort_unique(flow.reads[id]);
    sort_unique(flow.writes[id]);
    sort_unique(flow.changes[id]);
    for (const ValueId v : flow.reads[id]) flow.users[v].push_back(id);
  }
  return flow;
}

}  // namespace poet
