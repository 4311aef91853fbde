#pragma once

#include <algorithm>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/limits.h"

namespace poet::test {

/// The least RAM in which every op can run: the largest of their operands, results and, in device semantics,
/// workspace, with what is persistent.
[[nodiscard]] inline Bytes largest_working_set(const Instance& instance, Semantics semantics) {
  const Dataflow flow = dataflow(instance.graph);
  Bytes largest{};
  for (const OpId op : ids<OpId>(instance.graph.ops.size())) {
    Bytes bytes = semantics == Semantics::device ? instance.costs.ops[op].workspace : Bytes();
    for (const ValueId v : flow.reads[op]) bytes += instance.costs.values[v].bytes;
    for (const ValueId v : flow.writes[op]) bytes += instance.costs.values[v].bytes;
    largest = std::max(largest, bytes);
  }
  return instance.costs.persistent + largest;
}

/// `percent` of the way from there to `keep_all`.
[[nodiscard]] inline Bytes budget_between(const Instance& instance, Semantics semantics, Bytes keep_all,
                                          int percent) {
  const Bytes least = largest_working_set(instance, semantics);
  return least + Bytes((keep_all - least).value() * percent / 100);
}

}  // namespace poet::test
