#include "poet/plan/canonical.h"

#include <algorithm>

#include "poet/plan/machine.h"

namespace poet {
namespace {

// Every allocation ends with the last step that needs its RAM.
class EarliestFrees {
 public:
  EarliestFrees(const Instance& instance, const Plan& plan, Semantics semantics)
      : plan_(plan),
        flow_(dataflow(instance.graph)),
        machine_(instance, flow_, semantics),
        last_(instance.graph.values.size()),
        freed_after_(plan.steps.size()) {}

  Plan freed() {
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) take(i);
    for (const ValueId v : ids<ValueId>(last_.size())) end(v);
    Plan plan;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (plan_.steps[i].kind != StepKind::free) plan.steps.push_back(plan_.steps[i]);
      std::sort(freed_after_[i].begin(), freed_after_[i].end());
      for (const ValueId v : freed_after_[i]) plan.steps.push_back({StepKind::free, OpId(), v});
    }
    return plan;
  }

 private:
  struct LastNeed {
    bool open = false;
    int needed = 0;  // last step that needs the RAM
  };

  void take(int i) {
    const Step& step = plan_.steps[static_cast<std::size_t>(i)];
    switch (step.kind) {
      case StepKind::page_in:
        end(step.value);
        last_[step.value].open = true;
        [[fallthrough]];
      case StepKind::page_out:
        last_[step.value].needed = i;
        break;
      case StepKind::compute:
        for (const ValueId v : flow_.reads[step.op]) last_[v].needed = i;
        for (const ValueId v : flow_.writes[step.op]) {
          end(v);
          last_[v] = {true, i};
        }
        break;
      case StepKind::wait:
        break;
      case StepKind::free:
        return;
    }
    for (const ValueId v : machine_.take(step)) last_[v].needed = i;
  }

  // What is still moving stays where it is.
  void end(ValueId v) {
    LastNeed& last = last_[v];
    if (!last.open || machine_.moving(v)) return;
    freed_after_[static_cast<std::size_t>(last.needed)].push_back(v);
    last.open = false;
  }

  const Plan& plan_;
  const Dataflow flow_;
  Machine machine_;
  IdVector<ValueId, LastNeed> last_;               // of each value
  std::vector<std::vector<ValueId>> freed_after_;  // per step
};

}  // namespace

Plan with_waits(const Instance& instance, const Plan& plan, Semantics semantics) {
  if (!has_waits(instance, semantics)) return plan;
  const Dataflow flow = dataflow(instance.graph);
  Machine machine(instance, flow, semantics);
  Plan waiting;
  const auto take = [&](const Step& step) {
    machine.take(step);
    waiting.steps.push_back(step);
  };
  for (const Step& step : plan.steps) {
    for (const ValueId v : machine.awaited_by(step)) take({StepKind::wait, OpId(), v});
    if (step.kind != StepKind::wait || machine.moving(step.value)) take(step);
  }
  return waiting;
}

Plan with_frees(const Instance& instance, const Plan& plan, Semantics semantics) {
  return EarliestFrees(instance, plan, semantics).freed();
}

}  // namespace poet
