#include "poet/plan/timing/overlap.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/machine.h"
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
        // As if transfers took no time: an allocation ends with the last step that needs it.
        freed_(with_frees(instance, plan, Semantics::published)),
        budget_(budget),
        machine_(instance, flow, Semantics::device),
        page_out_(instance.graph.values.size(), 0) {}

  Plan plan() {
    for (const Step& step : freed_.steps) {
      if (step.kind == StepKind::free) {
        end(step.value);
        continue;
      }
      make_room(step);
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
    if (page_out_[v] == 0) {
      machine_.take({StepKind::free, OpId(), v});
      return;
    }
    const auto earlier = [&](ValueId a, ValueId b) { return page_out_[a] < page_out_[b]; };
    leaving_.insert(std::upper_bound(leaving_.begin(), leaving_.end(), v, earlier), v);
  }

  // Before the step: what has been sent, and oldest first what is in the way.
  void make_room(const Step& step) {
    const std::vector<ValueId> come =
        step.kind == StepKind::compute ? flow_.writes[step.op] : std::vector<ValueId>{step.value};
    Bytes wanted;
    if (step.kind == StepKind::compute) wanted += costs_.ops[step.op].workspace;
    if (step.kind != StepKind::page_out)
      for (const ValueId v : come) wanted += costs_.values[v].bytes;
    const auto returns = [&](ValueId v) {
      return step.kind != StepKind::page_out && std::find(come.begin(), come.end(), v) != come.end();
    };
    for (; !leaving_.empty(); leaving_.pop_front()) {
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
  Plan moved;
  for (std::size_t i = 0; i < count; ++i) {
    moved.steps.insert(moved.steps.end(), before[i].begin(), before[i].end());
    const StepKind kind = plan.steps[i].kind;
    if (kind != StepKind::page_in && kind != StepKind::wait) moved.steps.push_back(plan.steps[i]);
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
