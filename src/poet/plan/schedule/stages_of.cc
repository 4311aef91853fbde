#include "poet/plan/schedule/stages_of.h"

#include <algorithm>

#include "poet/graph/dataflow.h"
#include "poet/plan/canonical.h"

namespace poet {
namespace {

void make_set(auto& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace

Schedule stages_of(const Instance& instance, const Plan& plan) {
  const Dataflow flow = dataflow(instance.graph);
  Schedule schedule;
  schedule.stages.resize(instance.graph.ops.size());
  IdVector<ValueId, char> in_ram(instance.graph.values.size(), 0);
  std::vector<ValueId> present;
  const auto bring = [&](ValueId v) {
    const auto place = std::lower_bound(present.begin(), present.end(), v);
    if (place == present.end() || *place != v) present.insert(place, v);
    in_ram[v] = 1;
  };
  std::size_t t = 0;
  bool starts = false;  // nothing has happened in stage t yet but that RAM was given back
  // As if transfers took no time.
  for (const Step& step : with_frees(instance, plan, Semantics::published).steps) {
    if (step.kind == StepKind::free) {
      in_ram[step.value] = 0;
      continue;
    }
    if (t == schedule.stages.size()) break;
    Stage& stage = schedule.stages[t];
    if (starts) {
      std::erase_if(present, [&](ValueId v) { return !in_ram[v]; });
      stage.retain = present;
      starts = false;
    }
    if (step.kind == StepKind::page_out) stage.page_out.push_back(step.value);
    if (step.kind == StepKind::page_in) {
      if (t > 0) schedule.stages[t - 1].page_in.push_back(step.value);
      stage.retain.push_back(step.value);
      bring(step.value);
    }
    if (step.kind != StepKind::compute) continue;
    stage.compute.push_back(step.op);
    for (const ValueId v : flow.writes[step.op]) bring(v);
    starts = static_cast<std::size_t>(step.op.index) == t;
    t += starts ? 1 : 0;
  }
  for (Stage& stage : schedule.stages) {
    make_set(stage.retain);
    make_set(stage.page_in);
    make_set(stage.page_out);
    make_set(stage.compute);
  }
  return schedule;
}

}  // namespace poet
