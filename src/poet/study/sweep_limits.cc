#include "poet/study/sweep_limits.h"

#include <algorithm>

#include "poet/graph/dataflow.h"

namespace poet {

Bytes least_ram(const Instance& instance, Semantics semantics) {
  const Dataflow flow = dataflow(instance.graph);
  Bytes most{};
  for (OpId op : ids<OpId>(instance.graph.ops.size())) {
    Bytes sum{};
    if (semantics == Semantics::device) sum += instance.costs.ops[op].workspace;
    for (ValueId value : flow.reads[op]) sum += instance.costs.values[value].bytes;
    for (ValueId value : flow.writes[op]) sum += instance.costs.values[value].bytes;
    most = std::max(most, sum);
  }
  return most + instance.costs.persistent;
}

Limits limits_of(const SweepPoint& point, Bytes least, const Report& keep_all, std::optional<Bytes> storage) {
  Limits limits;
  limits.ram_budget = point.ram.bytes;
  if (point.ram.fraction) {
    const double way = static_cast<double>((keep_all.peak_ram - least).value());
    // At 1 exactly the peak: the product of a whole number below 2^53 with 1 is itself.
    limits.ram_budget = least + Bytes(static_cast<std::int64_t>(*point.ram.fraction * way));
  }
  if (point.deadline.factor) limits.deadline = *point.deadline.factor * keep_all.runtime;
  if (point.deadline.time) limits.deadline = point.deadline.time;
  limits.max_bytes_written = point.max_bytes_written;
  if (storage) limits.max_bytes_written = std::min(limits.max_bytes_written.value_or(*storage), *storage);
  return limits;
}

}  // namespace poet
