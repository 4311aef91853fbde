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
        plan_(plan),
        budget_(budget),
        machine_(instance, flow, Semantics::device),
        last_(instance.graph.values.size()),
        ends_(plan.steps.size()) {}

  Plan plan() {
    find_allocations();
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      make_room(step);
      for (const ValueId v : machine_.awaited_by(step)) machine_.take({StepKind::wait, OpId(), v});
      machine_.take(step);
      freeing_.steps.push_back(step);
      for (const Leaving& end : ends_[i]) {
        if (end.paged_out)
          leaving_.insert(std::upper_bound(leaving_.begin(), leaving_.end(), end, earlier), end);
        else
          machine_.take({StepKind::free, OpId(), end.value});
      }
    }
    return std::move(freeing_);
  }

 private:
  struct Allocation {
    bool open = false;
    std::size_t needed = 0;  // last step that needs it
    bool paged_out = false;
    std::size_t page_out = 0;  // step
  };
  struct Leaving {
    ValueId value;
    bool paged_out = false;
    std::size_t page_out = 0;
  };

  static bool earlier(const Leaving& a, const Leaving& b) { return a.page_out < b.page_out; }

  void find_allocations() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (step.kind == StepKind::page_out) {
        Allocation& allocation = last_[step.value];
        allocation.paged_out = true;
        allocation.page_out = i;
        allocation.needed = i;
      } else if (step.kind == StepKind::page_in) {
        begin(step.value, i);
      } else {
        for (const ValueId v : flow_.reads[step.op]) last_[v].needed = i;
        for (const ValueId v : flow_.writes[step.op]) begin(v, i);
      }
    }
    for (const ValueId v : flow_.transients) close(v);
  }

  void begin(ValueId v, std::size_t i) {
    close(v);
    last_[v] = {true, i, false, 0};
  }

  void close(ValueId v) {
    const Allocation& allocation = last_[v];
    if (allocation.open) ends_[allocation.needed].push_back({v, allocation.paged_out, allocation.page_out});
  }

  // Before the step: what has been sent, and oldest first what is in the way.
  void make_room(const Step& step) {
    const std::vector<ValueId> come =
        step.kind == StepKind::compute ? flow_.writes[step.op] : std::vector<ValueId>{step.value};
    Bytes wanted;
    if (step.kind == StepKind::compute) wanted += costs_.ops[step.op].workspace;
    if (step.kind != StepKind::page_out)
      for (const ValueId v : come) wanted += costs_.values[v].bytes;
    const auto returns = [&](const Leaving& end) {
      return step.kind != StepKind::page_out && std::find(come.begin(), come.end(), end.value) != come.end();
    };
    for (; !leaving_.empty(); leaving_.pop_front()) {
      const ValueId oldest = leaving_.front().value;
      const bool needed =
          machine_.ram() + wanted > budget_ || std::any_of(leaving_.begin(), leaving_.end(), returns);
      if (!needed && machine_.quiet_at(oldest) > machine_.clock().now) break;
      machine_.take({StepKind::wait, OpId(), oldest});
      machine_.take({StepKind::free, OpId(), oldest});
      freeing_.steps.push_back({StepKind::free, OpId(), oldest});
    }
  }

  const CostTable& costs_;
  const Dataflow& flow_;
  const Plan& plan_;
  const Bytes budget_;
  Machine machine_;
  IdVector<ValueId, Allocation> last_;      // of each value
  std::vector<std::vector<Leaving>> ends_;  // per step: the allocations that it is the last to need
  std::deque<Leaving> leaving_;             // paged out and not read any more, in the channel's order
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
