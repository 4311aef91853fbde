// Replay of the step form, as a machine would execute it: it knows what lies in RAM and on storage now, and
// nothing of stages.

#include <fmt/format.h>

#include <algorithm>

#include "poet/graph/dataflow.h"
#include "poet/plan/names.h"
#include "poet/referee/ledger.h"
#include "poet/referee/replay.h"

namespace poet {
namespace {

struct Residence {
  bool in_ram = false;      // memory is taken
  bool usable = false;      // that memory holds the value; device: from `arrives` on
  bool on_storage = false;  // device: once the channel has done what is enqueued
  bool moving = false;      // staged: a transfer needs the memory until the running stage ends
  double arrives = 0;       // device, seconds: end of its page-in
  double quiet = 0;         // device, seconds: end of its last transfer
  bool updated = false;     // a persistent value that an update op has changed
};

struct ChannelUse {
  StepKind kind;
  double start;
  double end;
};

class Machine {
 public:
  Machine(const Instance& instance, Semantics semantics, const Limits& limits)
      : instance_(instance),
        graph_(instance.graph),
        costs_(instance.costs),
        semantics_(semantics),
        flow_(dataflow(instance.graph)),
        ledger_(instance, semantics, limits),
        residences_(graph_.values.size()) {}

  Report run(const Plan& plan) {
    for (number_ = 0; number_ < plan.steps.size(); ++number_) {
      const Step& step = plan.steps[number_];
      if (const std::string wrong = execute(step); !wrong.empty()) {
        break_rule(step, wrong);
        return close();
      }
    }
    if (graph_.ops.contains(next_)) {
      ledger_.break_rule(fmt::format("after the last step: {} was never computed", name_of(graph_, next_)));
    }
    return close();
  }

 private:
  std::string execute(const Step& step) {
    if (step.kind == StepKind::compute) {
      if (!graph_.ops.contains(step.op)) return fmt::format("there are {} ops", graph_.ops.size());
      return compute(step);
    }
    if (!graph_.values.contains(step.value)) return fmt::format("there are {} values", graph_.values.size());
    if (!flow_.producer[step.value].valid())
      return "a view or a persistent value is neither transferred nor freed";
    if (step.kind == StepKind::free) return free(step.value);
    if (!costs_.has_storage) return "there is no storage";
    return step.kind == StepKind::page_out ? page_out(step) : page_in(step);
  }

  std::string page_out(const Step& step) {
    Residence& value = residences_[step.value];
    if (!value.in_ram) return "not in RAM";
    if (!value.usable) return "still arriving";
    ledger_.paged_out(step.value);
    if (const std::string over = ledger_.over_wear(); !over.empty()) break_rule(step, over);
    if (semantics_ == Semantics::staged) {
      move_until_stage_ends(step.value);
      return {};
    }
    value.on_storage = true;
    if (semantics_ == Semantics::device) {
      value.quiet = enqueue(step.kind, costs_.values[step.value].page_out.seconds, value.arrives);
    }
    return {};
  }

  std::string page_in(const Step& step) {
    Residence& value = residences_[step.value];
    if (!value.on_storage) return "not on storage";
    if (value.in_ram) return "already in RAM";
    ledger_.paged_in(step.value);
    value.in_ram = true;
    value.usable = semantics_ != Semantics::staged;
    ram_ += costs_.values[step.value].bytes;
    occupy(step, ram_, OpId());
    if (semantics_ == Semantics::staged) move_until_stage_ends(step.value);
    if (semantics_ == Semantics::device) {
      value.arrives = enqueue(step.kind, costs_.values[step.value].page_in.seconds, value.quiet);
      value.quiet = value.arrives;
    }
    return {};
  }

  std::string free(ValueId v) {
    Residence& value = residences_[v];
    if (!value.in_ram) return "not in RAM";
    if (value.moving) return "its transfer is still under way";
    stall(value.quiet);
    value.in_ram = false;
    ram_ -= costs_.values[v].bytes;
    return {};
  }

  std::string compute(const Step& step) {
    const Op& op = graph_.ops[step.op];
    const bool again = step.op < next_;
    if (next_ < step.op)
      return fmt::format("comes before the first computation of {}", name_of(graph_, next_));
    if (again && !op.recomputable) return "cannot be recomputed";
    for (const ValueId v : op.inputs) {
      if (again && residences_[storage(graph_, v)].updated)
        return fmt::format("{} has been updated", name_of(graph_, v));
    }
    double start = now_;
    for (const ValueId v : flow_.reads[step.op]) {
      const Residence& value = residences_[v];
      if (!value.in_ram) return fmt::format("needs {}, not in RAM", name_of(graph_, v));
      if (!value.usable) return fmt::format("needs {}, still arriving", name_of(graph_, v));
      start = std::max(start, value.arrives);
    }
    for (const ValueId v : flow_.writes[step.op]) {
      Residence& value = residences_[v];
      if (!value.in_ram) ram_ += costs_.values[v].bytes;
      value.in_ram = true;
      value.usable = true;
      start = std::max(start, value.quiet);  // the channel and an op never share a value's memory
    }
    stall(start);
    const OpCost& cost = costs_.ops[step.op];
    occupy(step, semantics_ == Semantics::device ? ram_ + cost.workspace : ram_, step.op);
    ledger_.computed(step.op, again);
    now_ += cost.runtime.value();
    if (!again) first_computed(step.op);
    return {};
  }

  // In the stage form this is where a stage ends, and with it its transfers.
  void first_computed(OpId op) {
    for (const ValueId v : graph_.ops[op].updates) residences_[storage(graph_, v)].updated = true;
    next_ = OpId(op.index + 1);
    for (const ValueId v : under_way_) {
      Residence& value = residences_[v];
      value.moving = false;
      value.usable = true;
      value.on_storage = true;
    }
    under_way_.clear();
  }

  void move_until_stage_ends(ValueId v) {
    residences_[v].moving = true;
    under_way_.push_back(v);
  }

  /// Puts a transfer at the end of the channel's queue and gives its end.
  double enqueue(StepKind kind, Seconds duration, double ready) {
    const double asked = std::max(now_, ready);
    const bool rested = channel_.empty() || channel_.back().end < asked;
    const double start = rested ? asked : channel_.back().end;
    const double wake = rested ? costs_.timing.wake_time.value() : 0;
    const double end = start + wake + duration.value();
    channel_.push_back({kind, start, end});
    if (!costs_.timing.concurrent) stall(end);
    return end;
  }

  void stall(double until) {
    if (until <= now_) return;
    stalled_ += until - now_;
    now_ = until;
  }

  void occupy(const Step& step, Bytes bytes, OpId op) {
    ledger_.occupied(bytes, op);
    if (const std::string over = ledger_.over_budget(bytes); !over.empty()) break_rule(step, over);
  }

  void break_rule(const Step& step, const std::string& what) {
    if (ledger_.broken()) return;
    ledger_.break_rule(fmt::format("step {} ({}): {}", number_, to_string(instance_, step), what));
  }

  Report close() {
    double makespan = now_;
    for (std::size_t i = 0; i < channel_.size(); ++i) {
      if (i == 0 || channel_[i].start > channel_[i - 1].end) ledger_.woke(channel_[i].kind);
      makespan = std::max(makespan, channel_[i].end);
    }
    return ledger_.close(Seconds(makespan), Seconds(stalled_));
  }

  const Instance& instance_;
  const Graph& graph_;
  const CostTable& costs_;
  const Semantics semantics_;
  const Dataflow flow_;
  Ledger ledger_;

  IdVector<ValueId, Residence> residences_;  // of storages
  std::vector<ValueId> under_way_;           // staged: transfers of the running stage
  std::vector<ChannelUse> channel_;          // device: what the channel did, in order
  OpId next_{0};                             // the op to be computed first next
  Bytes ram_{};                              // transient values
  double now_ = 0;                           // of the compute engine, seconds
  double stalled_ = 0;
  std::size_t number_ = 0;  // of the running step
};

}  // namespace

Report replay(const Instance& instance, const Plan& plan, Semantics semantics, const Limits& limits) {
  return Machine(instance, semantics, limits).run(plan);
}

}  // namespace poet
