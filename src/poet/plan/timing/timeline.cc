#include "poet/plan/timing/timeline.h"

#include <algorithm>

#include "poet/plan/machine.h"

namespace poet {

Timeline timeline_of(const Instance& instance, const Plan& plan) {
  const Dataflow flow = dataflow(instance.graph);
  Machine machine(instance, flow, Semantics::device);
  Timeline line;
  line.begin.reserve(plan.steps.size());
  line.end.reserve(plan.steps.size());
  line.ram.reserve(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (const ValueId v : machine.awaited_by(step)) machine.take({StepKind::wait, OpId(), v});
    const bool computes = step.kind == StepKind::compute;
    machine.take(step, computes ? machine.overwritten_by(plan, i) : ValueId());
    line.begin.push_back(machine.when().begin);
    line.end.push_back(machine.when().end);
    line.ram.push_back(machine.level());
    line.peak = std::max(line.peak, machine.level());
  }
  line.makespan = machine.clock().makespan();
  line.stalled = machine.clock().stalled;
  line.wakes = machine.clock().wakes;
  return line;
}

Joules energy_of(const Instance& instance, const Plan& plan, const Timeline& timeline) {
  const CostTable& costs = instance.costs;
  double joules =
      costs.timing.idle.value() * timeline.makespan + costs.timing.wake_energy.value() * timeline.wakes;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::compute) joules += costs.ops[step.op].energy.value();
    if (step.kind == StepKind::page_in) joules += costs.values[step.value].page_in.energy.value();
    if (step.kind == StepKind::page_out) joules += costs.values[step.value].page_out.energy.value();
  }
  return Joules(joules);
}

}  // namespace poet
