#include "poet/plan/settle.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "poet/graph/dataflow.h"

namespace poet {
namespace {

bool is_transfer(const Step& step) {
  return step.kind == StepKind::page_in || step.kind == StepKind::page_out;
}

// Transfers of a device whose channel runs beside compute, by their number on the channel.
class Channel {
 public:
  explicit Channel(std::size_t values) : last_(values, 0), last_in_(values, 0) {}

  void issue(const Step& transfer) {
    last_[transfer.value] = ++issued_;
    if (transfer.kind == StepKind::page_in) last_in_[transfer.value] = issued_;
  }
  void wait(ValueId v) { ended_ = std::max(ended_, last_[v]); }
  [[nodiscard]] bool moving(ValueId v) const { return last_[v] > ended_; }
  [[nodiscard]] bool arriving(ValueId v) const { return last_in_[v] > ended_; }

 private:
  IdVector<ValueId, int> last_;  // transfer of the value
  IdVector<ValueId, int> last_in_;
  int issued_ = 0;
  int ended_ = 0;  // known to have ended
};

bool has_waits(const Instance& instance, Semantics semantics) {
  return semantics == Semantics::device && instance.costs.timing.concurrent;
}

// Stays in RAM and the last step that each needs its RAM for.
class Stays {
 public:
  Stays(const Instance& instance, const Plan& plan, Semantics semantics)
      : plan_(plan),
        flow_(dataflow(instance.graph)),
        staged_(semantics == Semantics::staged),
        waits_(has_waits(instance, semantics)),
        open_(instance.graph.values.size()),
        channel_(instance.graph.values.size()),
        freed_after_(plan.steps.size()) {}

  Plan freed() {
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) take(i);
    for (const ValueId v : ids<ValueId>(open_.size())) end(v);
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
    bool moving = false;  // in a transfer that is not known to have ended
    int needed = 0;       // last step that needs the RAM
  };

  void take(int i) {
    const Step& step = plan_.steps[static_cast<std::size_t>(i)];
    switch (step.kind) {
      case StepKind::page_in:
        end(step.value);
        open_[step.value] = {true, false, i};
        move(step, i);
        break;
      case StepKind::page_out:
        move(step, i);
        break;
      case StepKind::wait:
        channel_.wait(step.value);
        settle_moves(i, [this](ValueId v) { return !channel_.moving(v); });
        break;
      case StepKind::compute:
        compute(step.op, i);
        break;
      case StepKind::free:
        break;
    }
  }

  void compute(OpId op, int i) {
    for (const ValueId v : flow_.reads[op]) open_[v].needed = i;
    for (const ValueId v : flow_.writes[op]) {
      end(v);
      if (!open_[v].open) open_[v] = {true, false, i};
      open_[v].needed = i;
    }
    if (op < next_) return;
    next_ = OpId(op.index + 1);
    if (staged_) settle_moves(i, [](ValueId) { return true; });
  }

  void move(const Step& transfer, int i) {
    channel_.issue(transfer);
    Stay& stay = open_[transfer.value];
    stay.needed = i;
    if (!waits_ && !staged_) return;
    if (!stay.moving) moving_.push_back(transfer.value);
    stay.moving = true;
  }

  void settle_moves(int i, const std::function<bool(ValueId)>& ended) {
    const auto still = std::remove_if(moving_.begin(), moving_.end(), [&](ValueId v) {
      if (!ended(v)) return false;
      open_[v].moving = false;
      open_[v].needed = i;
      return true;
    });
    moving_.erase(still, moving_.end());
  }

  // What is still moving stays where it is.
  void end(ValueId v) {
    Stay& stay = open_[v];
    if (!stay.open || stay.moving) return;
    freed_after_[static_cast<std::size_t>(stay.needed)].push_back(v);
    stay.open = false;
  }

  const Plan& plan_;
  const Dataflow flow_;
  const bool staged_;  // transfers end with their stage
  const bool waits_;   // transfers end when waited for
  IdVector<ValueId, Stay> open_;
  Channel channel_;
  std::vector<ValueId> moving_;
  std::vector<std::vector<ValueId>> freed_after_;  // per step
  OpId next_{0};                                   // the op to be computed first next
};

}  // namespace

Plan with_waits(const Instance& instance, const Plan& plan, Semantics semantics) {
  if (!has_waits(instance, semantics)) return plan;
  const Dataflow flow = dataflow(instance.graph);
  Channel channel(instance.graph.values.size());
  Plan waiting;
  const auto wait = [&](ValueId v) {
    channel.wait(v);
    waiting.steps.push_back({StepKind::wait, OpId(), v});
  };
  for (const Step& step : plan.steps) {
    if (is_transfer(step)) channel.issue(step);
    if (step.kind == StepKind::compute) {
      for (const ValueId v : flow.reads[step.op])
        if (channel.arriving(v)) wait(v);
      for (const ValueId v : flow.writes[step.op])
        if (channel.moving(v)) wait(v);
    } else if (!is_transfer(step) && channel.moving(step.value)) {
      wait(step.value);
    }
    if (step.kind == StepKind::wait) continue;
    waiting.steps.push_back(step);
  }
  return waiting;
}

Plan with_frees(const Instance& instance, const Plan& plan, Semantics semantics) {
  return Stays(instance, plan, semantics).freed();
}

}  // namespace poet
