#include "poet/plan/timeline.h"

#include <algorithm>

#include "poet/graph/dataflow.h"

namespace poet {

Timeline timeline_of(const Instance& instance, const Plan& plan) {
  const Dataflow flow = dataflow(instance.graph);
  const CostTable& costs = instance.costs;
  IdVector<ValueId, double> quiet(instance.graph.values.size(), 0.0);    // end of the value's last transfer
  IdVector<ValueId, double> arrives(instance.graph.values.size(), 0.0);  // end of its last page-in
  IdVector<ValueId, char> in_ram(instance.graph.values.size(), 0);
  Timeline line;
  line.begin.reserve(plan.steps.size());
  double now = 0;
  double channel = 0;  // free from then on
  Bytes ram{};
  const auto wait = [&](double until) {
    line.stalled += std::max(0.0, until - now);
    now = std::max(now, until);
  };
  for (const Step& step : plan.steps) {
    double begin = now;
    double end = now;
    Bytes level = ram;
    switch (step.kind) {
      case StepKind::page_in:
      case StepKind::page_out: {
        const bool in = step.kind == StepKind::page_in;
        const ValueCost& cost = costs.values[step.value];
        const double asked = std::max(now, quiet[step.value]);
        const bool rested = line.wakes == 0 || channel < asked;
        begin = rested ? asked : channel;
        if (rested) ++line.wakes;
        end = begin + (rested ? costs.timing.wake_time.value() : 0) +
              (in ? cost.page_in : cost.page_out).seconds.value();
        channel = quiet[step.value] = end;
        if (in) {
          arrives[step.value] = end;
          ram += cost.bytes;
          in_ram[step.value] = 1;
        }
        level = ram;
        if (!costs.timing.concurrent) wait(end);
        break;
      }
      case StepKind::wait:
        wait(quiet[step.value]);
        end = now;
        break;
      case StepKind::free:
        wait(quiet[step.value]);
        begin = end = now;
        in_ram[step.value] = 0;
        ram -= costs.values[step.value].bytes;
        level = ram;
        break;
      case StepKind::compute:
        for (const ValueId v : flow.reads[step.op]) wait(arrives[v]);
        for (const ValueId v : flow.writes[step.op]) {
          wait(quiet[v]);
          if (!in_ram[v]) ram += costs.values[v].bytes;
          in_ram[v] = 1;
        }
        begin = now;
        end = now = begin + costs.ops[step.op].runtime.value();
        level = ram + costs.ops[step.op].workspace;
        break;
    }
    line.begin.push_back(begin);
    line.end.push_back(end);
    line.ram.push_back(level);
    line.peak = std::max(line.peak, level);
  }
  line.makespan = std::max(now, channel);
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
