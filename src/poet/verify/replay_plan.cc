// Replay of the step form, as a machine would execute it: it knows what lies in RAM and on storage now, and
// nothing of stages.

#include <fmt/format.h>

#include <algorithm>

#include "poet/graph/dataflow.h"
#include "poet/graph/in_place.h"
#include "poet/plan/names.h"
#include "poet/verify/replay.h"
#include "poet/verify/tally.h"

namespace poet {
namespace {

struct Presence {
  bool in_ram = false;        // memory is taken
  bool usable = false;        // and known to hold the value
  bool overwritten = false;   // its memory is a result's already
  bool on_storage = false;    // device: once the channel has done what is enqueued
  int moves = 0;              // transfers that may still need the memory
  std::size_t last_move = 0;  // device: its number on the channel
  bool updated = false;       // a persistent value that an update op has changed
  bool home = true;           // a paged value whose newest contents are on storage, or on their way there
};

struct IssuedTransfer {
  StepKind kind;
  ValueId value;
  double start;  // device: on the channel, seconds, waking up included
  double end;
};

class StepReplay {
 public:
  StepReplay(const Instance& instance, Semantics semantics, const Limits& limits, Trace* trace)
      : instance_(instance),
        graph_(instance.graph),
        costs_(instance.costs),
        semantics_(semantics),
        beside_(semantics == Semantics::device && instance.costs.timing.concurrent),
        flow_(dataflow(instance.graph)),
        tally_(instance, semantics, limits),
        trace_(trace),
        presence_(graph_.values.size()) {
    for (const ValueId v : flow_.paged) presence_[v].on_storage = true;
  }

  Report run(const Plan& plan) {
    steps_ = &plan.steps;
    for (number_ = 0; number_ < plan.steps.size(); ++number_) {
      const Step& step = plan.steps[number_];
      const double begin = now_;
      scratch_ = Bytes();
      if (const std::string wrong = execute(step); !wrong.empty()) {
        break_rule(step, wrong);
        return close();
      }
      if (trace_ == nullptr) continue;
      trace_->steps.push_back({begin, now_});
      trace_->ram.push_back(costs_.persistent + ram_ + scratch_);
    }
    if (graph_.ops.contains(next_)) {
      tally_.break_rule(fmt::format("after the last step: {} was never computed", name_of(graph_, next_)));
    }
    for (const ValueId v : flow_.paged) {
      if (!presence_[v].home)
        tally_.break_rule(
            fmt::format("after the last step: {} was not paged out after its update", name_of(graph_, v)));
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
    if (!flow_.movable(step.value))
      return "a view or a resident persistent value is neither transferred nor freed";
    if (step.kind == StepKind::free) return free(step.value);
    if (!costs_.has_storage) return "there is no storage";
    if (step.kind == StepKind::wait) return wait(step.value);
    return step.kind == StepKind::page_out ? page_out(step) : page_in(step);
  }

  std::string page_out(const Step& step) {
    Presence& value = presence_[step.value];
    if (!value.in_ram) return "not in RAM";
    // On the one channel what is still arriving has arrived when its turn comes to leave.
    if (!value.usable && !beside_) return "still arriving";
    if (flow_.is_paged[step.value]) {
      if (!value.updated) return "its contents are on storage: nothing has updated it";
      if (value.home) return "it has been paged out since its update";
      value.home = true;
    }
    tally_.paged_out(step.value, flow_.is_paged[step.value] != 0);
    if (const std::string over = tally_.over_wear(); !over.empty()) break_rule(step, over);
    value.on_storage = semantics_ != Semantics::staged;
    move(step, costs_.values[step.value].page_out.seconds);
    return {};
  }

  std::string page_in(const Step& step) {
    Presence& value = presence_[step.value];
    if (!value.on_storage) return "not on storage";
    if (value.in_ram) return "already in RAM";
    if (value.updated) return "nothing reads it after its update";
    tally_.paged_in(step.value);
    value.in_ram = true;
    value.usable = false;
    ram_ += costs_.values[step.value].bytes;
    occupy(step, ram_, OpId());
    move(step, costs_.values[step.value].page_in.seconds);
    return {};
  }

  std::string wait(ValueId v) {
    if (!beside_) return "no channel runs beside compute";
    if (presence_[v].last_move == 0) return "nothing has moved it";
    const std::size_t last = presence_[v].last_move;
    stall(transfers_[last - 1].end);
    while (ended_ < last) end_move();
    return {};
  }

  std::string free(ValueId v) {
    Presence& value = presence_[v];
    if (!value.in_ram) return "not in RAM";
    if (value.moves > 0) return "its transfer may still be under way";
    if (!value.home) return "its update has not been paged out";
    value.in_ram = false;
    value.usable = false;
    if (!value.overwritten) ram_ -= costs_.values[v].bytes;
    value.overwritten = false;
    return {};
  }

  std::string compute(const Step& step) {
    const Op& op = graph_.ops[step.op];
    const bool again = step.op < next_;
    if (next_ < step.op)
      return fmt::format("comes before the first computation of {}", name_of(graph_, next_));
    if (again && !op.recomputable) return "cannot be recomputed";
    for (const ValueId v : op.inputs) {
      if (again && presence_[storage(graph_, v)].updated)
        return fmt::format("{} has been updated", name_of(graph_, v));
    }
    for (const ValueId v : flow_.reads[step.op]) {
      const Presence& value = presence_[v];
      if (!value.in_ram) return fmt::format("needs {}, not in RAM", name_of(graph_, v));
      if (!value.usable) return fmt::format("needs {}, which may still be arriving", name_of(graph_, v));
    }
    for (const ValueId v : flow_.changes[step.op]) {
      if (presence_[v].moves > 0)
        return fmt::format("updates {}, whose transfer may still be under way", name_of(graph_, v));
    }
    const OpCost& cost = costs_.ops[step.op];
    if (semantics_ == Semantics::device) {
      scratch_ = cost.workspace;
      if (const ValueId operand = written_over(op); operand.valid()) {
        presence_[operand].overwritten = true;
        ram_ -= costs_.values[operand].bytes;
      }
    }
    for (const ValueId v : flow_.writes[step.op]) {
      Presence& value = presence_[v];
      if (value.moves > 0 && beside_)
        return fmt::format("writes {}, whose transfer may still be under way", name_of(graph_, v));
      if (!value.in_ram) ram_ += costs_.values[v].bytes;
      value.in_ram = true;
      value.usable = true;
    }
    occupy(step, ram_ + scratch_, step.op);
    tally_.computed(step.op, again);
    now_ += cost.runtime.value();
    if (!again) first_computed(step.op);
    return {};
  }

  /// Before its results take RAM: the operand over which the op writes its first one. It has to be given back
  /// right after the op, and no transfer may still need it.
  [[nodiscard]] ValueId written_over(const Op& op) const {
    if (op.outputs.empty() || presence_[op.outputs.front()].in_ram) return {};
    const Bytes bytes = costs_.values[op.outputs.front()].bytes;
    for (const std::size_t position : overwritable_inputs(graph_, op)) {
      const ValueId v = storage(graph_, op.inputs[position]);
      if (!flow_.producer[v].valid() || costs_.values[v].bytes != bytes || presence_[v].moves > 0) continue;
      for (std::size_t i = number_ + 1; i < steps_->size() && (*steps_)[i].kind == StepKind::free; ++i)
        if ((*steps_)[i].value == v) return v;
    }
    return {};
  }

  // In staged schedules this is where a stage ends, and with it its transfers.
  void first_computed(OpId op) {
    for (const ValueId v : graph_.ops[op].updates) presence_[storage(graph_, v)].updated = true;
    for (const ValueId v : flow_.changes[op]) presence_[v].home = false;
    next_ = OpId(op.index + 1);
    if (semantics_ != Semantics::staged) return;
    while (ended_ < transfers_.size()) end_move();
  }

  /// Puts a transfer at the end of the channel's queue, or carries it out.
  void move(const Step& step, Seconds duration) {
    const bool timed = semantics_ == Semantics::device;
    const bool rested = transfers_.empty() || transfers_.back().end < now_;
    const double start = timed && !rested ? transfers_.back().end : now_;
    const double wake = rested ? costs_.timing.wake_time.value() : 0;
    const double end = timed ? start + wake + duration.value() : now_;
    transfers_.push_back({step.kind, step.value, start, end});
    if (trace_ != nullptr) trace_->channel.push_back({number_, {start, end}});
    ++presence_[step.value].moves;
    presence_[step.value].last_move = transfers_.size();
    if (beside_ || semantics_ == Semantics::staged) return;
    stall(end);
    end_move();
  }

  /// The oldest transfer that is not known to have ended has ended.
  void end_move() {
    const IssuedTransfer& oldest = transfers_[ended_++];
    Presence& value = presence_[oldest.value];
    --value.moves;
    if (oldest.kind == StepKind::page_in) value.usable = true;
    value.on_storage = true;
  }

  void stall(double until) {
    if (until <= now_) return;
    stalled_ += until - now_;
    now_ = until;
  }

  void occupy(const Step& step, Bytes bytes, OpId op) {
    tally_.occupied(bytes, op);
    if (const std::string over = tally_.over_budget(bytes); !over.empty()) break_rule(step, over);
  }

  void break_rule(const Step& step, const std::string& what) {
    if (tally_.violated()) return;
    tally_.break_rule(fmt::format("step {} ({}): {}", number_, to_string(instance_, step), what));
  }

  Report close() {
    double makespan = now_;
    for (std::size_t i = 0; semantics_ == Semantics::device && i < transfers_.size(); ++i) {
      if (i == 0 || transfers_[i].start > transfers_[i - 1].end) tally_.woke(transfers_[i].kind);
      makespan = std::max(makespan, transfers_[i].end);
    }
    return tally_.close(Seconds(makespan), Seconds(stalled_));
  }

  const Instance& instance_;
  const Graph& graph_;
  const CostTable& costs_;
  const Semantics semantics_;
  const bool beside_;  // transfers run beside compute, until waited for
  const Dataflow flow_;
  Tally tally_;
  Trace* const trace_;
  const std::vector<Step>* steps_ = nullptr;  // of the plan

  IdVector<ValueId, Presence> presence_;   // of storages
  std::vector<IssuedTransfer> transfers_;  // what the channel did or is to do, in order
  std::size_t ended_ = 0;                  // of them, known to have ended
  OpId next_{0};                           // the op to be computed first next
  Bytes ram_{};                            // transient values
  Bytes scratch_{};                        // of the running step
  double now_ = 0;                         // of the compute engine, seconds
  double stalled_ = 0;
  std::size_t number_ = 0;  // of the running step
};

}  // namespace

Report replay(const Instance& instance, const Plan& plan, Semantics semantics, const Limits& limits,
              Trace* trace) {
  return StepReplay(instance, semantics, limits, trace).run(plan);
}

}  // namespace poet
