#include "poet/graph/precedence.h"

#include <algorithm>

namespace poet {

IdVector<OpId, std::vector<OpId>> predecessors(const Graph& graph) {
  const IdVector<ValueId, ValueId> storage_of = storages(graph);
  IdVector<ValueId, OpId> update(graph.values.size());
  for (const OpId id : ids<OpId>(graph.ops.size()))
    for (const ValueId v : graph.ops[id].updates) update[storage_of[v]] = id;

  IdVector<OpId, std::vector<OpId>> before(graph.ops.size());
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    for (const ValueId v : graph.ops[id].inputs) {
      const ValueId source = storage_of[v];
      const OpId producer = graph.values[source].producer;
      if (producer.valid()) before[id].push_back(producer);
      if (update[source].valid() && update[source] != id) before[update[source]].push_back(id);
    }
  }
  for (std::vector<OpId>& list : before) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return before;
}

bool respects(const Graph& graph, const std::vector<OpId>& order) {
  if (order.size() != graph.ops.size()) return false;
  const IdVector<OpId, std::vector<OpId>> before = predecessors(graph);
  IdVector<OpId, char> done(graph.ops.size(), 0);
  for (const OpId id : order) {
    if (!graph.ops.contains(id) || done[id] != 0) return false;
    if (std::any_of(before[id].begin(), before[id].end(), [&](OpId op) { return done[op] == 0; }))
      return false;
    done[id] = 1;
  }
  return true;
}

}  // namespace poet
