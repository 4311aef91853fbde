#include "poet/plan/settle.h"

#include <algorithm>

#include "poet/graph/dataflow.h"
#include "poet/plan/channel.h"

namespace poet {
namespace {

bool is_transfer(const Step& step) {
  return step.kind == StepKind::page_in || step.kind == StepKind::page_out;
}

// Stays in RAM and the last step that each needs its RAM for.
class Stays {
 public:
  Stays(const Instance& instance, const Plan& plan, Semantics semantics)
      : plan_(plan),
        flow_(dataflow(instance.graph)),
        staged_(semantics == Semantics::staged),
        stays_(instance.graph.values.size()),
        channel_(instance, semantics),
        freed_after_(plan.steps.size()) {}

  Plan freed() {
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) take(i);
    for (const ValueId v : ids<ValueId>(stays_.size())) end(v);
    Plan plan;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (plan_.steps[i].kind != StepKind::free) plan.steps.push_back(plan_.steps[i]);
      std::sort(freed_after_[i].begin(), freed_after_[i].end());
      for (const ValueId v : freed_after_[i]) plan.steps.push_back({StepKind::free, OpId(), v});
    }
    return plan;
  }

 private:
  struct Stay {
    bool open = false;
    int needed = 0;  // last step that needs the RAM
  };

  void take(int i) {
    const Step& step = plan_.steps[static_cast<std::size_t>(i)];
    switch (step.kind) {
      case StepKind::page_in:
        end(step.value);
        stays_[step.value].open = true;
        [[fallthrough]];
      case StepKind::page_out:
        channel_.issue(step);
        stays_[step.value].needed = i;
        break;
      case StepKind::wait:
        for (const ValueId v : channel_.wait(step.value)) stays_[v].needed = i;
        break;
      case StepKind::compute:
        compute(step.op, i);
        break;
      case StepKind::free:
        break;
    }
  }

  void compute(OpId op, int i) {
    for (const ValueId v : flow_.reads[op]) stays_[v].needed = i;
    for (const ValueId v : flow_.writes[op]) {
      end(v);
      stays_[v] = {true, i};
    }
    if (op < next_) return;
    next_ = OpId(op.index + 1);
    if (!staged_) return;
    for (const ValueId v : channel_.wait_for_all()) stays_[v].needed = i;
  }

  // What is still moving stays where it is.
  void end(ValueId v) {
    Stay& stay = stays_[v];
    if (!stay.open || channel_.moving(v)) return;
    freed_after_[static_cast<std::size_t>(stay.needed)].push_back(v);
    stay.open = false;
  }

  const Plan& plan_;
  const Dataflow flow_;
  const bool staged_;
  IdVector<ValueId, Stay> stays_;  // the last one of each value
  Channel channel_;
  std::vector<std::vector<ValueId>> freed_after_;  // per step
  OpId next_{0};                                   // the op to be computed first next
};

}  // namespace

Plan with_waits(const Instance& instance, const Plan& plan, Semantics semantics) {
  const bool waits = has_waits(instance, semantics);
  const Dataflow flow = dataflow(instance.graph);
  Channel channel(instance, semantics);
  Plan waiting;
  const auto wait = [&](ValueId v) {
    channel.wait(v);
    waiting.steps.push_back({StepKind::wait, OpId(), v});
  };
  for (const Step& step : plan.steps) {
    if (waits && is_transfer(step)) channel.issue(step);
    if (step.kind == StepKind::compute) {
      for (const ValueId v : flow.reads[step.op])
        if (channel.arriving(v)) wait(v);
      for (const ValueId v : flow.writes[step.op])
        if (channel.moving(v)) wait(v);
    } else if (!is_transfer(step) && channel.moving(step.value)) {
      wait(step.value);
    }
    if (step.kind != StepKind::wait) waiting.steps.push_back(step);
  }
  return waiting;
}

Plan with_frees(const Instance& instance, const Plan& plan, Semantics semantics) {
  return Stays(instance, plan, semantics).freed();
}

}  // namespace poet
