// Replay of staged schedules: what a stage may do is checked against the stages around it, RAM is counted
// from what each stage retains, computes and transfers.

#include <fmt/format.h>

#include <algorithm>

#include "poet/graph/dataflow.h"
#include "poet/graph/in_place.h"
#include "poet/plan/names.h"
#include "poet/verify/replay.h"
#include "poet/verify/tally.h"

namespace poet {
namespace {

/// A mark per value that holds in one stage only, so that nothing has to be cleared between stages.
class StageMark {
 public:
  explicit StageMark(std::size_t values) : stage_(values, -1) {}
  void set(ValueId v, OpId stage) { stage_[v] = stage.index; }
  void clear(ValueId v) { stage_[v] = -1; }
  [[nodiscard]] bool holds(ValueId v, OpId stage) const { return stage_[v] == stage.index; }

 private:
  IdVector<ValueId, std::int32_t> stage_;
};

/// One compute engine and one FIFO channel for both directions.
class ScheduleClock {
 public:
  ScheduleClock(const DeviceTiming& timing, std::size_t values)
      : timing_(timing), arrival_(values), moving_until_(values) {}

  /// Puts a transfer on the channel; true if that wakes it up.
  bool move(ValueId v, Seconds duration) {
    Seconds start = std::max(channel_, compute_);
    const bool wakes = start > channel_;
    if (wakes) start += timing_.wake_time;
    channel_ = start + duration;
    moving_until_[v] = channel_;
    if (!timing_.concurrent) wait_until(channel_);
    return wakes;
  }
  void usable_after_transfer(ValueId v) { arrival_[v] = moving_until_[v]; }
  void wait_for_arrival(ValueId v) { wait_until(arrival_[v]); }
  void wait_for_transfers(ValueId v) { wait_until(moving_until_[v]); }
  void compute(Seconds duration) { compute_ += duration; }

  [[nodiscard]] Seconds makespan() const { return std::max(compute_, channel_); }
  [[nodiscard]] Seconds stalled() const { return stalled_; }

 private:
  void wait_until(Seconds moment) {
    if (moment <= compute_) return;
    stalled_ += moment - compute_;
    compute_ = moment;
  }

  const DeviceTiming& timing_;
  IdVector<ValueId, Seconds> arrival_;       // end of the page-in that a use has to wait for
  IdVector<ValueId, Seconds> moving_until_;  // end of the value's last transfer
  Seconds compute_{};                        // when the compute engine is free
  Seconds channel_{-1};                      // when the channel is; asleep before the step
  Seconds stalled_{};
};

class StageReplay {
 public:
  StageReplay(const Instance& instance, const Schedule& schedule, Semantics semantics, const Limits& limits)
      : graph_(instance.graph),
        costs_(instance.costs),
        schedule_(schedule),
        instant_(semantics == Semantics::published),
        timed_(semantics == Semantics::device),
        flow_(dataflow(instance.graph)),
        tally_(instance, semantics, limits),
        clock_(instance.costs.timing, graph_.values.size()),
        within_reach_(graph_.values.size()),
        live_(graph_.values.size()),
        arriving_(graph_.values.size()),
        leaving_(graph_.values.size()),
        held_next_(graph_.values.size()),
        stored_(graph_.values.size(), 0),
        uses_left_(graph_.values.size(), 0) {}

  Report run() {
    std::string wrong = wrong_form();
    if (!wrong.empty()) tally_.break_rule(wrong);
    for (const OpId t : ids<OpId>(wrong.empty() ? schedule_.stages.size() : 0)) {
      wrong = wrong_decision(t);
      if (wrong.empty()) wrong = carry_out(t);
      if (wrong.empty()) continue;
      break_rule(t, wrong);
      break;
    }
    return tally_.close(clock_.makespan(), clock_.stalled());
  }

 private:
  // ---- What can be said of every list by itself.
  [[nodiscard]] std::string wrong_form() const {
    if (schedule_.stages.size() != graph_.ops.size()) {
      return fmt::format("{} stages for {} ops", schedule_.stages.size(), graph_.ops.size());
    }
    for (const OpId t : ids<OpId>(schedule_.stages.size())) {
      const Stage& stage = at(t);
      std::string wrong = wrong_values(stage.retain, "retain");
      if (wrong.empty()) wrong = wrong_values(stage.page_in, "page_in");
      if (wrong.empty()) wrong = wrong_values(stage.page_out, "page_out");
      if (wrong.empty()) wrong = wrong_ops(stage.compute, t);
      if (!wrong.empty()) return where(t) + wrong;
    }
    return {};
  }

  [[nodiscard]] std::string wrong_values(const std::vector<ValueId>& list, const char* name) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!graph_.values.contains(list[i])) {
        return fmt::format("{} names value {}, but there are {}", name, list[i].index, graph_.values.size());
      }
      if (!flow_.producer[list[i]].valid()) {
        return fmt::format("{} names {}, which is {}", name, name_of(graph_, list[i]),
                           graph_.values[list[i]].alias_of.valid() ? "a view: name its storage instead"
                                                                   : "persistent: always in RAM");
      }
      if (i > 0 && !(list[i - 1] < list[i])) {
        return fmt::format("{} lists {} after {}; values go in increasing order, each at most once", name,
                           name_of(graph_, list[i]), name_of(graph_, list[i - 1]));
      }
    }
    return {};
  }

  [[nodiscard]] std::string wrong_ops(const std::vector<OpId>& list, OpId t) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!graph_.ops.contains(list[i])) {
        return fmt::format("compute names op {}, but there are {}", list[i].index, graph_.ops.size());
      }
      if (i > 0 && !(list[i - 1] < list[i])) {
        return fmt::format("computes {} after {}; ops go in increasing order, each at most once",
                           name_of(graph_, list[i]), name_of(graph_, list[i - 1]));
      }
    }
    if (list.empty() || list.back() != t) return "the last op computed must be the stage's own";
    return {};
  }

  // ---- What a stage may decide after those before it.
  std::string wrong_decision(OpId t) {
    const Stage& stage = at(t);
    for (const ValueId v : stage.retain) {
      if (!within_reach_.holds(v, t)) {
        return fmt::format("retains {}, which the stage before neither retains, computes nor pages in",
                           name_of(graph_, v));
      }
      live_.set(v, t);
    }
    if (!costs_.has_storage && !(stage.page_in.empty() && stage.page_out.empty())) {
      const ValueId first = stage.page_in.empty() ? stage.page_out.front() : stage.page_in.front();
      return fmt::format("pages {}, but there is no storage", name_of(graph_, first));
    }
    for (const ValueId v : stage.page_out) {
      if (!live_.holds(v, t)) return fmt::format("pages out {}, not in RAM at its start", name_of(graph_, v));
    }
    for (const ValueId v : stage.page_in) {
      if (stored_[v] == 0) return fmt::format("pages in {}, not on storage at its start", name_of(graph_, v));
    }
    for (const OpId op : stage.compute) {
      if (op == t) continue;
      if (!graph_.ops[op].recomputable) {
        return fmt::format("recomputes {}, which cannot be recomputed", name_of(graph_, op));
      }
      if (t > flow_.last_recompute[op]) {
        return fmt::format("recomputes {}, which reads what {} has updated", name_of(graph_, op),
                           name_of(graph_, flow_.last_recompute[op]));
      }
    }
    return {};
  }

  // ---- Transfers, computations and releases of one stage; the RAM and the time of each.
  std::string carry_out(OpId t) {
    const Stage& stage = at(t);
    look_ahead(t);
    ram_ = Bytes();
    for (const ValueId v : stage.retain) ram_ += costs_.values[v].bytes;
    transfer(t);
    occupy(t, stage.compute.front(), "at its start");
    for (const ValueId v : stage.retain) release_if_done(v, t);
    for (const OpId op : stage.compute) {
      if (std::string wrong = compute(op, t); !wrong.empty()) return wrong;
    }
    // What only its transfer still holds; a page-in that the next stage does not retain was in vain.
    for (const ValueId v : stage.page_out) {
      stored_[v] = 1;
      if (!held_next_.holds(v, t)) clock_.wait_for_transfers(v);
    }
    for (const ValueId v : stage.page_in) {
      if (!held_next_.holds(v, t)) clock_.wait_for_transfers(v);
    }
    return {};
  }

  // Marks what the next stage retains and what it could; counts the uses in this one.
  void look_ahead(OpId t) {
    const Stage& stage = at(t);
    const OpId next(t.index + 1);
    for (const ValueId v : stage.retain) within_reach_.set(v, next);
    for (const ValueId v : stage.page_in) within_reach_.set(v, next);
    for (const OpId op : stage.compute) {
      for (const ValueId v : flow_.writes[op]) within_reach_.set(v, next);
      for (const ValueId v : flow_.reads[op]) ++uses_left_[v];
    }
    if (!graph_.ops.contains(next)) return;
    for (const ValueId v : at(next).retain) held_next_.set(v, t);
  }

  void transfer(OpId t) {
    for (const ValueId v : at(t).page_out) {
      tally_.paged_out(v);
      if (const std::string over = tally_.over_wear(); !over.empty()) break_rule(t, over);
      if (timed_ && clock_.move(v, costs_.values[v].page_out.seconds)) tally_.woke(StepKind::page_out);
      if (!instant_) leaving_.set(v, t);
    }
    for (const ValueId v : at(t).page_in) {
      tally_.paged_in(v);
      if (timed_ && clock_.move(v, costs_.values[v].page_in.seconds)) tally_.woke(StepKind::page_in);
      if (instant_) continue;  // takes RAM from the next stage on
      arriving_.set(v, t);
      if (live_.holds(v, t)) continue;
      ram_ += costs_.values[v].bytes;
      clock_.usable_after_transfer(v);
    }
  }

  std::string compute(OpId op, OpId t) {
    for (const ValueId v : flow_.reads[op]) {
      if (live_.holds(v, t)) continue;
      return fmt::format("{}needs {}, not in RAM", op == t ? "" : "recomputing " + name_of(graph_, op) + " ",
                         name_of(graph_, v));
    }
    for (const ValueId v : flow_.reads[op]) clock_.wait_for_arrival(v);
    const ValueId overwritten = timed_ ? written_over(op, t) : ValueId();
    if (overwritten.valid()) clock_.wait_for_transfers(overwritten);
    for (const ValueId v : flow_.writes[op]) {
      // No op writes into memory that the channel still reads or fills.
      clock_.wait_for_transfers(v);
      if (!live_.holds(v, t) && !arriving_.holds(v, t)) ram_ += costs_.values[v].bytes;
      live_.set(v, t);
    }
    Bytes beside_values = timed_ ? costs_.ops[op].workspace : Bytes();
    if (overwritten.valid()) beside_values -= costs_.values[overwritten].bytes;
    ram_ += beside_values;
    occupy(t, op, op == t ? "while it runs" : "while it recomputes " + name_of(graph_, op));
    ram_ -= beside_values;
    tally_.computed(op, op != t);
    clock_.compute(costs_.ops[op].runtime);
    for (const ValueId v : flow_.reads[op]) {
      --uses_left_[v];
      release_if_done(v, t);
    }
    for (const ValueId v : flow_.writes[op]) release_if_done(v, t);
    return {};
  }

  // The operand over which the op writes its first result, if that is not in RAM nor arriving: the first one,
  // in the op's order, that can be written over and that nothing in this stage or the next needs any more.
  [[nodiscard]] ValueId written_over(OpId id, OpId t) const {
    const Op& op = graph_.ops[id];
    if (op.outputs.empty()) return {};
    const ValueId result = op.outputs.front();
    const Bytes bytes = costs_.values[result].bytes;
    if (bytes.value() == 0 || live_.holds(result, t) || arriving_.holds(result, t)) return {};
    for (const std::size_t position : overwritable_inputs(graph_, op)) {
      const ValueId v = storage(graph_, op.inputs[position]);
      const bool dies = flow_.producer[v].valid() && uses_left_[v] == 1 && !held_next_.holds(v, t) &&
                        !leaving_.holds(v, t) && !arriving_.holds(v, t);
      if (dies && costs_.values[v].bytes == bytes) return v;
    }
    return {};
  }

  void release_if_done(ValueId v, OpId t) {
    if (!live_.holds(v, t) || uses_left_[v] > 0 || held_next_.holds(v, t) || leaving_.holds(v, t)) return;
    live_.clear(v);
    if (arriving_.holds(v, t)) return;
    ram_ -= costs_.values[v].bytes;
    clock_.wait_for_transfers(v);
  }

  void occupy(OpId t, OpId op, const std::string& when) {
    tally_.occupied(ram_, op);
    if (const std::string over = tally_.over_budget(ram_); !over.empty()) break_rule(t, when + " " + over);
  }

  void break_rule(OpId t, const std::string& what) {
    if (!tally_.violated()) tally_.break_rule(where(t) + what);
  }
  [[nodiscard]] std::string where(OpId t) const {
    return fmt::format("stage {} ({}): ", t.index, name_of(graph_, t));
  }
  [[nodiscard]] const Stage& at(OpId t) const { return schedule_.stages[static_cast<std::size_t>(t.index)]; }

  const Graph& graph_;
  const CostTable& costs_;
  const Schedule& schedule_;
  const bool instant_;  // transfers leave RAM and time within a stage alone
  const bool timed_;
  const Dataflow flow_;
  Tally tally_;
  ScheduleClock clock_;

  StageMark within_reach_;                     // the stage may retain it
  StageMark live_;                             // in RAM and usable in the stage
  StageMark arriving_, leaving_;               // its transfer holds RAM during the stage
  StageMark held_next_;                        // the stage after this one retains it
  IdVector<ValueId, char> stored_;             // 1: on storage
  IdVector<ValueId, std::int32_t> uses_left_;  // reads still to come in this stage
  Bytes ram_{};                                // transient values, each counted once
};

}  // namespace

Report replay(const Instance& instance, const Schedule& schedule, Semantics semantics, const Limits& limits) {
  return StageReplay(instance, schedule, semantics, limits).run();
}

Report replay_keep_all(const Instance& instance, Semantics semantics, Trace* trace) {
  const Dataflow flow = dataflow(instance.graph);
  if (!flow.paged.empty()) return replay_keep_all(without_homes(instance), semantics, trace);
  IdVector<OpId, std::vector<ValueId>> dies(instance.graph.ops.size());  // with the op
  for (const ValueId v : flow.transients)
    dies[flow.users[v].empty() ? flow.producer[v] : flow.users[v].back()].push_back(v);
  Plan plan;
  for (const OpId op : ids<OpId>(instance.graph.ops.size())) {
    plan.steps.push_back({StepKind::compute, op, ValueId()});
    for (const ValueId v : dies[op]) plan.steps.push_back({StepKind::free, OpId(), v});
  }
  return replay(instance, plan, semantics, no_limits(), trace);
}

}  // namespace poet
