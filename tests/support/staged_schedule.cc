#include "tests/support/staged_schedule.h"

#include <algorithm>
#include <set>
#include <vector>

#include "poet/graph/dataflow.h"

namespace poet::test {
namespace {

using Set = std::set<ValueId>;

struct LooseStage {
  Set retain, page_in, page_out;
  std::vector<OpId> compute;
};

/// Whether a computation of the stage that step `from` is in reads the value, from there on.
bool read_in_stage(const Dataflow& flow, const Plan& plan, std::size_t from, OpId stage, ValueId v) {
  for (std::size_t i = from; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.kind != StepKind::compute) continue;
    const auto& reads = flow.reads[step.op];
    if (std::find(reads.begin(), reads.end(), v) != reads.end()) return true;
    if (step.op == stage) return false;
  }
  return false;
}

}  // namespace

std::optional<Schedule> staged_schedule(const Instance& instance, const Plan& plan) {
  const Dataflow flow = dataflow(instance.graph);
  std::vector<LooseStage> stages(instance.graph.ops.size() + 1);
  Set in_ram;
  std::size_t t = 0;
  bool at_end = false;  // the stage's own op has run; frees still belong to it
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (at_end && step.kind != StepKind::free) {
      ++t;
      stages[t].retain.insert(in_ram.begin(), in_ram.end());
      at_end = false;
    }
    const OpId stage(t);
    switch (step.kind) {
      case StepKind::free:
        in_ram.erase(step.value);
        break;
      case StepKind::wait:
        break;
      case StepKind::page_in:
        in_ram.insert(step.value);
        if (t > 0 && read_in_stage(flow, plan, i, stage, step.value)) {
          stages[t - 1].page_in.insert(step.value);
          stages[t].retain.insert(step.value);
        } else {
          stages[t].page_in.insert(step.value);
        }
        break;
      case StepKind::page_out: {
        const std::size_t leaves = stages[t].retain.contains(step.value) ? t : t + 1;
        stages[leaves].page_out.insert(step.value);
        stages[leaves].retain.insert(step.value);
        break;
      }
      case StepKind::compute:
        if (!stages[t].compute.empty() && !(stages[t].compute.back() < step.op)) return std::nullopt;
        stages[t].compute.push_back(step.op);
        for (const ValueId v : flow.writes[step.op]) in_ram.insert(v);
        at_end = step.op == stage;
        break;
    }
  }
  Schedule schedule;
  for (std::size_t s = 0; s + 1 < stages.size(); ++s) {
    const LooseStage& from = stages[s];
    schedule.stages.push_back({{from.retain.begin(), from.retain.end()},
                               {from.page_in.begin(), from.page_in.end()},
                               {from.page_out.begin(), from.page_out.end()},
                               from.compute});
  }
  return schedule;
}

}  // namespace poet::test
