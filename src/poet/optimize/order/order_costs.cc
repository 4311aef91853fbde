#include "poet/optimize/order/order_costs.h"

#include "poet/base/numbers.h"
#include "poet/graph/dataflow.h"
#include "poet/graph/precedence.h"
#include "poet/plan/overwritable.h"

namespace poet {

OrderCosts order_costs(const Instance& given, Semantics semantics) {
  const Instance instance = without_homes(given);
  const Graph& graph = instance.graph;
  const Dataflow flow = dataflow(graph);
  const IdVector<OpId, std::vector<OpId>> before = predecessors(graph);
  const IdVector<OpId, std::vector<ValueId>> overwritable = overwritable_operands(instance);

  OrderCosts c;
  c.ops = static_cast<int>(graph.ops.size());
  c.persistent = instance.costs.persistent.value();
  c.after.resize(graph.ops.size());
  c.users.resize(graph.values.size());
  for (const ValueCost& cost : instance.costs.values) c.bytes.push_back(cost.bytes.value());
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    std::vector<int>& earlier = c.before.emplace_back();
    for (const OpId other : before[op]) {
      earlier.push_back(other.index);
      c.after[at(other.index)].push_back(op.index);
    }
    std::vector<int>& reads = c.reads.emplace_back();
    for (const ValueId v : flow.reads[op]) {
      if (c.bytes[at(v.index)] == 0) continue;
      reads.push_back(v.index);
      c.users[at(v.index)].push_back(op.index);
    }
    std::int64_t& produced = c.produced.emplace_back(0);
    std::int64_t& unread = c.unread.emplace_back(0);
    for (const ValueId v : flow.writes[op]) {
      produced += c.bytes[at(v.index)];
      if (flow.users[v].empty()) unread += c.bytes[at(v.index)];
    }
    const bool on_device = semantics == Semantics::device;
    std::vector<int>& may_cover = c.may_cover.emplace_back();
    if (on_device)
      for (const ValueId v : overwritable[op]) may_cover.push_back(v.index);
    c.workspace.push_back(on_device ? instance.costs.ops[op].workspace.value() : 0);
    c.updates.push_back(graph.ops[op].updates.empty() ? 0 : 1);
  }
  return c;
}

}  // namespace poet
