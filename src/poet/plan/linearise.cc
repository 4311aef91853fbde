// POET's Algorithm 2: from a schedule in stages to the list of steps that carries it out.

#include <algorithm>

#include "poet/base/error.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/plan.h"
#include "poet/plan/settle.h"

namespace poet {
namespace {

class Lineariser {
 public:
  Lineariser(const Graph& graph, const Schedule& schedule, Semantics semantics)
      : schedule_(schedule),
        flow_(dataflow(graph)),
        instant_(semantics == Semantics::published),
        stored_(graph.values.size(), 0),
        retained_(graph.values.size(), -1),
        kept_(graph.values.size(), -1),
        held_next_(graph.values.size(), -1),
        last_use_(graph.values.size()) {}

  Plan run() {
    for (const OpId t : ids<OpId>(schedule_.stages.size())) stage(t);
    return std::move(plan_);
  }

 private:
  void stage(OpId t) {
    const Stage& stage = at(t);
    look_ahead(t);

    for (const ValueId v : leaving_) transfer(StepKind::page_out, v);
    if (!instant_) page_in(stage, t);
    for (const ValueId v : stage.retain) {
      if (last_use_[v].stage != t.index) release(v, t);
    }
    for (std::size_t position = 0; position < stage.compute.size(); ++position) {
      const OpId op = stage.compute[position];
      plan_.steps.push_back({StepKind::compute, op, ValueId()});
      for (const ValueId v : flow_.reads[op]) {
        if (last_use_[v] == Use{t.index, position}) release(v, t);
      }
      // An op's users come after it, so a result that this stage has no use for has none in the rest of the
      // stage.
      for (const ValueId v : flow_.writes[op]) {
        if (last_use_[v].stage != t.index) release(v, t);
      }
    }
    if (instant_) {
      page_in(stage, t);
      return;
    }
    for (const ValueId v : leaving_) {  // kept in RAM for the transfer's sake
      if (held_next_[v] != t.index) plan_.steps.push_back({StepKind::free, OpId(), v});
    }
  }

  // What this stage still needs its values for: stamped with the stage, so that nothing has to be cleared.
  void look_ahead(OpId t) {
    const Stage& stage = at(t);
    for (const ValueId v : stage.retain) retained_[v] = t.index;
    if (static_cast<std::size_t>(t.index) + 1 < schedule_.stages.size()) {
      for (const ValueId v : at(OpId(t.index + 1)).retain) {
        kept_[v] = t.index;
        held_next_[v] = t.index;
      }
    }
    leaving_.clear();
    for (const ValueId v : stage.page_out) {
      if (stored_[v]) continue;
      stored_[v] = 1;
      leaving_.push_back(v);
      if (!instant_) kept_[v] = t.index;
    }
    for (std::size_t position = 0; position < stage.compute.size(); ++position) {
      for (const ValueId v : flow_.reads[stage.compute[position]]) last_use_[v] = {t.index, position};
    }
  }

  // Transfers that bring nothing are left out: the value is in RAM anyway, or the next stage does not want
  // it. Nor does a value leave for storage twice: what lies there stays there.
  void page_in(const Stage& stage, OpId t) {
    for (const ValueId v : stage.page_in) {
      const bool computed = std::binary_search(stage.compute.begin(), stage.compute.end(), flow_.producer[v]);
      if (held_next_[v] == t.index && retained_[v] != t.index && !computed) transfer(StepKind::page_in, v);
    }
  }

  void transfer(StepKind kind, ValueId v) { plan_.steps.push_back({kind, OpId(), v}); }

  // settle() finds where memory can be given back; it learns here where that may wait for a page-out.
  void release(ValueId v, OpId t) {
    if (kept_[v] != t.index) plan_.steps.push_back({StepKind::free, OpId(), v});
  }

  [[nodiscard]] const Stage& at(OpId t) const { return schedule_.stages[static_cast<std::size_t>(t.index)]; }

  struct Use {
    std::int32_t stage = -1;
    std::size_t position = 0;  // in the stage's compute list
    bool operator==(const Use&) const = default;
  };

  const Schedule& schedule_;
  const Dataflow flow_;
  const bool instant_;              // transfers take no time and a page-in is issued at its stage's end
  IdVector<ValueId, char> stored_;  // an earlier stage or this one pages the value out
  std::vector<ValueId> leaving_;    // in this stage
  IdVector<ValueId, std::int32_t> retained_;  // last stage that starts with the value in RAM
  IdVector<ValueId, std::int32_t> kept_;  // last stage at whose computations' end the value must be in RAM
  IdVector<ValueId, std::int32_t> held_next_;  // last stage whose successor retains the value
  IdVector<ValueId, Use> last_use_;
  Plan plan_;
};

}  // namespace

Plan linearise(const Instance& instance, const Schedule& schedule, Semantics semantics) {
  ensure(schedule.stages.size() == instance.graph.ops.size(), "a schedule has one stage per op");
  return settle(instance, Lineariser(instance.graph, schedule, semantics).run(), semantics);
}

}  // namespace poet
