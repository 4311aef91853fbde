#include "poet/plan/schedule/linearise.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/base/numbers.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/canonical.h"
#include "poet/plan/machine.h"
#include "poet/plan/overwritable.h"
#include "poet/plan/schedule/stage_walk.h"

namespace poet {
namespace {

class Lineariser {
 public:
  Lineariser(const Instance& instance, const Schedule& schedule, Semantics semantics)
      : graph_(instance.graph),
        schedule_(schedule),
        flow_(dataflow(graph_)),
        overwritable_(overwritable_operands(instance)),
        waits_(has_waits(instance, semantics)),
        instant_(semantics == Semantics::published),
        stored_(graph_.values.size(), 0),
        retained_(graph_.values.size(), -1),
        retained_next_(graph_.values.size(), -1),
        state_(graph_.values.size(), InStage::away),
        uses_(graph_.values.size(), 0) {}

  Plan run() {
    for (t_ = 0; at(t_) < schedule_.stages.size(); ++t_) {
      look_ahead();
      walk_stage(*this, *this, !instant_);
    }
    return std::move(plan_);
  }

  // The stage, as walk_stage() asks for it.
  [[nodiscard]] const std::vector<ValueId>& present() const { return stage().retain; }
  [[nodiscard]] const std::vector<ValueId>& page_outs() const { return page_outs_; }
  [[nodiscard]] const std::vector<ValueId>& page_ins() const { return page_ins_; }
  [[nodiscard]] const std::vector<ValueId>& reads(OpId op) const { return flow_.reads[op]; }
  [[nodiscard]] const std::vector<ValueId>& writes(OpId op) const { return flow_.writes[op]; }
  void for_each_op(const auto& visit) const {
    for (const OpId op : stage().compute) visit(op);
  }
  [[nodiscard]] Retention retention(ValueId v) const { return {retained_[v] == t_, retained_next_[v] == t_}; }
  InStage& state(ValueId v) { return state_[v]; }
  int& uses(ValueId v) { return uses_[v]; }
  [[nodiscard]] ValueId first_result(OpId op) const { return graph_.ops[op].outputs.front(); }
  // What the schedule says moves is not written over, even if the transfer is left out.
  const std::vector<ValueId>& overwritable(OpId op) {
    still_.clear();
    for (const ValueId v : overwritable_[op]) {
      const auto& outs = stage().page_out;
      const auto& ins = stage().page_in;
      if (!std::binary_search(outs.begin(), outs.end(), v) && !std::binary_search(ins.begin(), ins.end(), v))
        still_.push_back(v);
    }
    return still_;
  }

  // Its steps. canonicalize() finds where memory can be given back; it learns here where that may wait for a
  // page-out.
  void page_out(ValueId v) { add(StepKind::page_out, v); }
  void page_in(ValueId v) { add(StepKind::page_in, v); }
  void computes(OpId op) { plan_.steps.push_back({StepKind::compute, op, ValueId()}); }
  void leaves(ValueId v) { add(StepKind::free, v); }
  // What still leaves for storage: with_waits() drops the wait where there is nothing to wait for.
  void overwrites(ValueId v) {
    if (waits_) add(StepKind::wait, v);
  }
  void enters(ValueId) {}
  void produces(ValueId) {}
  void starts() {}

 private:
  [[nodiscard]] const Stage& stage() const { return schedule_.stages[at(t_)]; }

  // Transfers that bring nothing are left out: the value is in RAM anyway, or the next stage does not want
  // it. Nor does a value leave for storage twice: what lies there stays there. Stamped with the stage, so
  // that nothing has to be cleared.
  void look_ahead() {
    for (const ValueId v : stage().retain) retained_[v] = t_;
    if (at(t_) + 1 < schedule_.stages.size())
      for (const ValueId v : schedule_.stages[at(t_) + 1].retain) retained_next_[v] = t_;
    page_outs_.clear();
    for (const ValueId v : stage().page_out) {
      if (stored_[v]) continue;
      stored_[v] = 1;
      page_outs_.push_back(v);
    }
    page_ins_.clear();
    for (const ValueId v : stage().page_in) {
      const auto& ops = stage().compute;
      const bool computed = std::binary_search(ops.begin(), ops.end(), flow_.producer[v]);
      if (retention(v) == Retention{false, true} && !computed) page_ins_.push_back(v);
    }
  }

  void add(StepKind kind, ValueId v) { plan_.steps.push_back({kind, OpId(), v}); }

  const Graph& graph_;
  const Schedule& schedule_;
  const Dataflow flow_;
  const IdVector<OpId, std::vector<ValueId>> overwritable_;
  const bool waits_;
  const bool instant_;              // transfers take no time and a page-in is issued at its stage's end
  IdVector<ValueId, char> stored_;  // an earlier stage or this one pages the value out
  std::vector<ValueId> page_outs_, page_ins_;  // of this stage
  std::vector<ValueId> still_;
  IdVector<ValueId, std::int32_t> retained_;       // last stage that starts with the value in RAM
  IdVector<ValueId, std::int32_t> retained_next_;  // last stage whose successor does
  IdVector<ValueId, InStage> state_;
  IdVector<ValueId, int> uses_;
  int t_ = 0;  // this stage
  Plan plan_;
};

}  // namespace

Plan linearise(const Instance& instance, const Schedule& schedule, Semantics semantics) {
  ensure(schedule.stages.size() == instance.graph.ops.size(), "a schedule has one stage per op");
  return canonicalize(instance, Lineariser(instance, schedule, semantics).run(), semantics);
}

}  // namespace poet
