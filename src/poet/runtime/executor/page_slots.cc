#include "poet/runtime/executor/page_slots.h"

#include <algorithm>

namespace poet::runtime {

PersistentKinds persistent_kinds(const Graph& graph) {
  PersistentKinds kinds;
  kinds.updated = IdVector<ValueId, char>(graph.values.size(), 0);
  for (const Op& op : graph.ops)
    for (const ValueId v : op.updates) kinds.updated[storage(graph, v)] = 1;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (is_persistent(value.persistence) && !value.alias_of.valid() && value.bytes > Bytes(0) && !value.rows)
      kinds.all.push_back(v);
  }
  return kinds;
}

Pager pager_of(const PlanFile& file) {
  Pager pager{{}, &file.plan};
  const auto& values = file.instance.graph.values;
  for (const ValueId v : ids<ValueId>(values.size()))
    if (values[v].paged) pager.paged.push_back(v);
  return pager;
}

PageSlots page_slots(const Graph& graph, std::span<const Pager> plans) {
  PageSlots slots;
  slots.home = IdVector<ValueId, Home>(graph.values.size());
  const auto new_slot = [&](ValueId v) {
    slots.bytes.push_back(graph.values[v].bytes);
    slots.owners.push_back(v);
    return slots.bytes.size() - 1;
  };
  const auto add = [&](ValueId v) {
    if (graph.values[v].rows) return;  // at home in a table
    Home& home = slots.home[v];
    if (home.slot == kNoSlot) home.slot = home.other_slot = new_slot(v);
  };
  IdVector<ValueId, char> paged(graph.values.size(), 0);
  for (const Pager& plan : plans)
    for (const ValueId v : plan.paged) paged[v] = 1;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    if (paged[v] == 0 && !graph.values[v].rows) continue;
    add(v);
    slots.has_homes = true;
  }
  // Second slots in the order of updates.
  std::vector<ValueId> changed;
  for (const Op& op : graph.ops) {
    changed.clear();
    for (const ValueId v : op.updates) changed.push_back(storage(graph, v));
    std::sort(changed.begin(), changed.end());
    for (const ValueId v : changed) {
      Home& home = slots.home[v];
      if (paged[v] != 0 && home.slot != kNoSlot && home.other_slot == home.slot)
        home.other_slot = new_slot(v);
    }
  }
  for (const Pager& plan : plans)
    for (const Step& step : plan.plan->steps)
      if (step.kind == StepKind::page_out || step.kind == StepKind::page_in) add(step.value);
  if (plans.size() > 1)
    for (const ValueId v : persistent_kinds(graph).all) add(v);
  return slots;
}

}  // namespace poet::runtime
