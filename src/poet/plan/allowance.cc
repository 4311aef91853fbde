#include "poet/plan/allowance.h"

#include <algorithm>

#include "poet/plan/overwritable.h"

namespace poet {

WorkingSet working_set(const CostTable& costs, const Dataflow& flow, OpId op,
                       const std::vector<ValueId>& overwritable, Semantics semantics) {
  WorkingSet set;
  for (const ValueId value : flow.reads[op]) set.values += costs.values[value].bytes;
  for (const ValueId value : flow.writes[op]) set.values += costs.values[value].bytes;
  if (semantics != Semantics::device) return set;
  set.workspace = costs.ops[op].workspace;
  if (!overwritable.empty()) set.values -= costs.values[overwritable.front()].bytes;
  return set;
}

RamFloor ram_floor(const Instance& instance, Semantics semantics) {
  const Dataflow flow = dataflow(instance.graph);
  const IdVector<OpId, std::vector<ValueId>> overwritable = overwritable_operands(instance);
  RamFloor floor;
  floor.persistent = instance.costs.persistent;
  for (const OpId op : ids<OpId>(instance.graph.ops.size())) {
    const WorkingSet set = working_set(instance.costs, flow, op, overwritable[op], semantics);
    if (floor.op.valid() && set.bytes() <= floor.largest.bytes()) continue;
    floor.largest = set;
    floor.op = op;
  }
  return floor;
}

std::optional<Bytes> write_limit(const CostTable& costs, const Limits& limits) {
  const std::optional<Bytes>& asked = limits.max_bytes_written;
  if (!costs.storage_capacity) return asked;
  if (asked) return std::min(*asked, *costs.storage_capacity);
  std::int64_t room = costs.storage_capacity->value();
  for (const ValueCost& value : costs.values) {
    room -= value.bytes.value();
    if (room < 0) return costs.storage_capacity;
  }
  return std::nullopt;
}

}  // namespace poet
