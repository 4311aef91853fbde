#include "poet/plan/schedule/keep_all.h"

#include "poet/graph/dataflow.h"

namespace poet {

Schedule keep_all_schedule(const Graph& graph) {
  const Dataflow flow = dataflow(graph);
  Schedule schedule;
  schedule.stages.resize(graph.ops.size());
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    schedule.stages[static_cast<std::size_t>(op.index)].compute = {op};
  }
  for (const ValueId v : flow.transients) {  // increasing, so that the retained values come out sorted
    if (flow.users[v].empty()) continue;
    for (std::int32_t t = flow.producer[v].index + 1; t <= flow.users[v].back().index; ++t) {
      schedule.stages[static_cast<std::size_t>(t)].retain.push_back(v);
    }
  }
  return schedule;
}

}  // namespace poet
