#include "poet/plan/overwritable.h"

#include <algorithm>

#include "poet/graph/in_place.h"

namespace poet {

IdVector<OpId, std::vector<ValueId>> overwritable_operands(const Instance& instance) {
  const Graph& graph = instance.graph;
  IdVector<OpId, std::vector<ValueId>> operands(graph.ops.size());
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    for (const std::size_t position : overwritable_inputs(graph, op)) {
      const ValueId v = storage(graph, op.inputs[position]);
      const Bytes bytes = instance.costs.values[v].bytes;
      if (is_persistent(graph.values[v].persistence) || bytes.value() == 0) continue;
      if (bytes != instance.costs.values[op.outputs.front()].bytes) continue;
      if (std::find(operands[id].begin(), operands[id].end(), v) == operands[id].end())
        operands[id].push_back(v);
    }
  }
  return operands;
}

}  // namespace poet
