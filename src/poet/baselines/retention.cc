#include "poet/baselines/retention.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace poet {

Schedule schedule_of_retention(const Instance& instance, const Dataflow& flow, const KeepRule& keep) {
  const Graph& graph = instance.graph;
  const auto ops = static_cast<std::int32_t>(graph.ops.size());
  Schedule schedule;
  schedule.stages.resize(graph.ops.size());
  IdVector<ValueId, char> needed(graph.values.size(), 0);  // by the stage at hand or by the next one's start
  std::vector<ValueId> next;                               // what the next stage retains

  for (std::int32_t t = ops - 1; t >= 0; --t) {
    const OpId stage_id(t);
    Stage& stage = schedule.stages[static_cast<std::size_t>(t)];
    for (const ValueId v : next) needed[v] = 1;
    std::vector<ValueId> retained;
    for (std::int32_t i = t; i >= 0; --i) {
      const OpId op(i);
      bool computed = i == t;
      for (const ValueId v : flow.writes[op]) {
        if (needed[v] == 0) continue;
        needed[v] = 0;
        if (i == t) continue;
        const bool can = graph.ops[op].recomputable && stage_id <= flow.last_recompute[op];
        const bool free = instance.costs.values[v].bytes == Bytes(0);
        if (!can || free || keep(stage_id, v)) {
          retained.push_back(v);
        } else {
          computed = true;
        }
      }
      if (!computed) continue;
      stage.compute.push_back(op);
      for (const ValueId v : flow.reads[op]) needed[v] = 1;
    }
    std::reverse(stage.compute.begin(), stage.compute.end());
    std::sort(retained.begin(), retained.end());
    stage.retain = retained;
    next = std::move(retained);
  }
  return schedule;
}

}  // namespace poet
