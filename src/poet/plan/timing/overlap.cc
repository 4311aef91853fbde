#include "poet/plan/timing/overlap.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/machine.h"
#include "poet/plan/overwritable.h"
#include "poet/plan/timing/timeline.h"

namespace poet {
namespace {

// Frees of what is paged out, once the channel is done with it or its RAM is wanted: canonicalize() makes
// compute wait there for the transfer.
class Releases {
 public:
  Releases(const Instance& instance, const Dataflow& flow, const Plan& plan, Bytes budget)
      : costs_(instance.costs),
        flow_(flow),
        overwritable_(overwritable_operands(instance)),
        // As if transfers took no time: an allocation ends with the last step that needs it.
        freed_(with_frees(instance, plan, Semantics::published)),
        budget_(budget),
        machine_(instance, flow, Semantics::device),
        page_out_(instance.graph.values.size(), 0) {}

  Plan plan() {
    for (std::size_t i = 0; i < freed_.steps.size(); ++i) {
      const Step& step = freed_.steps[i];
      if (step.kind == StepKind::free) {
        end(step.value);
        continue;
      }
      make_room(i);
      for (const ValueId v : machine_.awaited_by(step)) machine_.take({StepKind::wait, OpId(), v});
      machine_.take(step);
      freeing_.steps.push_back(step);
      if (step.kind == StepKind::page_out) page_out_[step.value] = ++page_outs_;
    }
    return std::move(freeing_);
  }

 private:
  // Nothing reads the value any more: its RAM is given back now, or once it has been sent.
  void end(ValueId v) {
    if (!machine_.moving(v)) {
      machine_.take({StepKind::free, OpId(), v});
      page_out_[v] = 0;
      return;
    }
    const auto earlier = [&](ValueId a, ValueId b) { return page_out_[a] < page_out_[b]; };
    leaving_.insert(std::upper_bound(leaving_.begin(), leaving_.end(), v, earlier), v);
  }

  // An operand that the channel still sends and that the computation could be written over if it had been
  // sent; invalid: none.
  [[nodiscard]] ValueId sent_and_overwritten(std::size_t i) const {
    const OpId op = freed_.steps[i].op;
    for (std::size_t k = i + 1; k < freed_.steps.size() && freed_.steps[k].kind == StepKind::free; ++k) {
      const ValueId v = freed_.steps[k].value;
      const auto& operands = overwritable_[op];
      if (machine_.moving(v) && std::find(operands.begin(), operands.end(), v) != operands.end()) return v;
    }
    return ValueId();
  }

  void wait_for(ValueId v) {
    freeing_.steps.push_back({StepKind::wait, OpId(), v});
    machine_.take(freeing_.steps.back());
  }

  // Before the step: what has been sent, and oldest first what is in the way.
  void make_room(std::size_t i) {
    const Step& step = freed_.steps[i];
    const std::vector<ValueId> come =
        step.kind == StepKind::compute ? flow_.writes[step.op] : std::vector<ValueId>{step.value};
    Bytes wanted;
    if (step.kind == StepKind::compute) wanted += costs_.ops[step.op].workspace;
    if (step.kind != StepKind::page_out)
      for (const ValueId v : come) wanted += costs_.values[v].bytes;
    const auto returns = [&](ValueId v) {
      return step.kind != StepKind::page_out && std::find(come.begin(), come.end(), v) != come.end();
    };
    ValueId sent;
    if (step.kind == StepKind::compute) {
      const ValueId overwritten = machine_.overwritten_by(freed_, i);
      if (overwritten.valid()) wanted -= costs_.values[overwritten].bytes;
      if (!overwritten.valid()) sent = sent_and_overwritten(i);
    }
    // It takes no more RAM once it has been sent: where that is so, or before what leaves later.
    const auto wait_for_sent = [&] {
      const double quiet = sent.valid() ? machine_.quiet_at(sent) : 0;
      const bool first = leaving_.empty() || quiet <= machine_.quiet_at(leaving_.front());
      const bool tight = machine_.ram() + wanted > budget_;
      if (!sent.valid() || (quiet > machine_.clock().now && !(tight && first))) return;
      wait_for(sent);
      wanted -= costs_.values[sent].bytes;
      sent = ValueId();
    };
    for (wait_for_sent(); !leaving_.empty(); leaving_.pop_front(), wait_for_sent()) {
      const ValueId oldest = leaving_.front();
      const bool needed =
          machine_.ram() + wanted > budget_ || std::any_of(leaving_.begin(), leaving_.end(), returns);
      if (!needed && machine_.quiet_at(oldest) > machine_.clock().now) break;
      machine_.take({StepKind::wait, OpId(), oldest});
      machine_.take({StepKind::free, OpId(), oldest});
      freeing_.steps.push_back({StepKind::free, OpId(), oldest});
      page_out_[oldest] = 0;
    }
  }

  const CostTable& costs_;
  const Dataflow& flow_;
  const IdVector<OpId, std::vector<ValueId>> overwritable_;
  const Plan freed_;
  const Bytes budget_;
  Machine machine_;
  IdVector<ValueId, int> page_out_;  // of the allocation at hand, by number; 0: none
  int page_outs_ = 0;
  std::deque<ValueId> leaving_;  // paged out and not read any more, in the channel's order
  Plan freeing_;
};

// `plan` is canonical.
Plan with_prefetches(const Instance& instance, const Plan& plan, Bytes budget) {
  const std::size_t count = plan.steps.size();
  std::vector<Bytes> ram = timeline_of(instance, plan).ram;  // during the step
  std::vector<std::vector<Step>> before(count);
  IdVector<ValueId, std::size_t> gone(instance.graph.values.size(), 0);  // after its last free
  std::size_t earliest = 0;  // after the last page-out, and the page-in before
  for (std::size_t i = 0; i < count; ++i)
    if (plan.steps[i].kind == StepKind::page_out) earliest = i + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = plan.steps[i];
    if (step.kind == StepKind::free) gone[step.value] = i + 1;
    if (step.kind != StepKind::page_in) continue;
    const Bytes bytes = instance.costs.values[step.value].bytes;
    std::size_t to = i;
    const std::size_t least = std::max(earliest, gone[step.value]);
    while (to > least && ram[to - 1] + bytes <= budget) --to;
    // Of a free it is known what is taken after it.
    while (to > 0 && to < i && plan.steps[to].kind == StepKind::free && ram[to - 1] + bytes > budget) ++to;
    for (std::size_t k = to; k < i; ++k) ram[k] += bytes;
    before[to].push_back(step);
    earliest = std::max(earliest, to);
  }
  // Waits for page-ins are where their uses are; one for a page-out may be for a result that is written over
  // the value.
  Plan moved;
  IdVector<ValueId, char> leaves(instance.graph.values.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    moved.steps.insert(moved.steps.end(), before[i].begin(), before[i].end());
    const Step& step = plan.steps[i];
    if (step.kind == StepKind::page_out) leaves[step.value] = 1;
    if (step.kind == StepKind::page_in) leaves[step.value] = 0;
    const bool follows = step.kind == StepKind::wait && leaves[step.value] == 0;
    if (step.kind != StepKind::page_in && !follows) moved.steps.push_back(step);
  }
  return moved;
}

}  // namespace

Plan overlapped(const Instance& instance, const Plan& plan, const Limits& limits) {
  const Dataflow flow = dataflow(instance.graph);
  const Bytes budget = transient_budget(instance.costs, limits);
  const Plan released =
      canonicalize(instance, Releases(instance, flow, plan, budget).plan(), Semantics::device);
  return canonicalize(instance, with_prefetches(instance, released, budget), Semantics::device);
}

}  // namespace poet
