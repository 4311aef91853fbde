#include "poet/plan/overlap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "poet/graph/dataflow.h"
#include "poet/plan/settle.h"

namespace poet {
namespace {

// Frees of what is paged out, once the channel is done with it or its RAM is wanted: settle() makes compute
// wait there for the transfer.
class Releases {
 public:
  Releases(const Instance& instance, const Dataflow& flow, const Plan& plan, Bytes budget)
      : costs_(instance.costs),
        flow_(flow),
        plan_(plan),
        budget_(budget),
        stays_(instance.graph.values.size()),
        arrives_(instance.graph.values.size()),
        sent_(plan.steps.size()),
        ends_(plan.steps.size()) {}

  Plan plan() {
    find_stays();
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      make_room(plan_.steps[i]);
      take(i);
      freeing_.steps.push_back(plan_.steps[i]);
      for (const Leaving& end : ends_[i]) {
        if (end.paged_out)
          leaving_.insert(std::upper_bound(leaving_.begin(), leaving_.end(), end, earlier), end);
        else
          ram_ -= costs_.values[end.value].bytes;
      }
    }
    return std::move(freeing_);
  }

 private:
  struct Stay {
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

  void find_stays() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (step.kind == StepKind::page_out) {
        Stay& stay = stays_[step.value];
        stay.paged_out = true;
        stay.page_out = i;
        stay.needed = i;
      } else if (step.kind == StepKind::page_in) {
        begin(step.value, i);
      } else {
        for (const ValueId v : flow_.reads[step.op]) stays_[v].needed = i;
        for (const ValueId v : flow_.writes[step.op]) begin(v, i);
      }
    }
    for (const ValueId v : flow_.transients) close(v);
  }

  void begin(ValueId v, std::size_t i) {
    close(v);
    stays_[v] = {true, i, false, 0};
  }

  void close(ValueId v) {
    const Stay& stay = stays_[v];
    if (stay.open) ends_[stay.needed].push_back({v, stay.paged_out, stay.page_out});
  }

  // Before the step: what has been sent, and oldest first what is in the way.
  void make_room(const Step& step) {
    const std::vector<ValueId> come =
        step.kind == StepKind::compute ? flow_.writes[step.op] : std::vector<ValueId>{step.value};
    Bytes room = ram_;
    if (step.kind == StepKind::compute) room += costs_.ops[step.op].workspace;
    if (step.kind != StepKind::page_out)
      for (const ValueId v : come) room += costs_.values[v].bytes;
    const auto returns = [&](const Leaving& end) {
      return step.kind != StepKind::page_out && std::find(come.begin(), come.end(), end.value) != come.end();
    };
    while (!leaving_.empty()) {
      const Leaving& oldest = leaving_.front();
      const bool wanted = room > budget_ || std::any_of(leaving_.begin(), leaving_.end(), returns);
      if (!wanted && sent_[oldest.page_out] > now_) break;
      now_ = std::max(now_, sent_[oldest.page_out]);
      freeing_.steps.push_back({StepKind::free, OpId(), oldest.value});
      room -= costs_.values[oldest.value].bytes;
      ram_ -= costs_.values[oldest.value].bytes;
      leaving_.pop_front();
    }
  }

  // The clock, as the referee's.
  void take(std::size_t i) {
    const Step& step = plan_.steps[i];
    if (step.kind == StepKind::compute) {
      for (const ValueId v : flow_.reads[step.op]) now_ = std::max(now_, arrives_[v]);
      now_ += costs_.ops[step.op].runtime.value();
      for (const ValueId v : flow_.writes[step.op]) ram_ += costs_.values[v].bytes;
      return;
    }
    const bool out = step.kind == StepKind::page_out;
    const ValueCost& cost = costs_.values[step.value];
    const double wake = channel_ < now_ || i == 0 ? costs_.timing.wake_time.value() : 0;
    channel_ = std::max(channel_, now_) + wake + (out ? cost.page_out : cost.page_in).seconds.value();
    if (out) {
      sent_[i] = channel_;
    } else {
      arrives_[step.value] = channel_;
      ram_ += cost.bytes;
    }
  }

  const CostTable& costs_;
  const Dataflow& flow_;
  const Plan& plan_;
  const Bytes budget_;
  IdVector<ValueId, Stay> stays_;
  IdVector<ValueId, double> arrives_;
  std::vector<double> sent_;                // per page-out step
  std::vector<std::vector<Leaving>> ends_;  // per step: the stays that it is the last to need
  std::deque<Leaving> leaving_;             // paged out and not read any more, in the channel's order
  Plan freeing_;
  Bytes ram_;
  double now_ = 0;
  double channel_ = 0;
};

// `plan` is settled.
Plan with_prefetches(const Instance& instance, const Dataflow& flow, const Plan& plan, Bytes budget) {
  const CostTable& costs = instance.costs;
  const std::size_t count = plan.steps.size();
  std::vector<Bytes> ram(count);  // during the step
  IdVector<ValueId, std::uint8_t> present(instance.graph.values.size());
  Bytes now;
  std::size_t earliest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = plan.steps[i];
    Bytes workspace;
    if (step.kind == StepKind::compute) {
      workspace = costs.ops[step.op].workspace;
      for (const ValueId v : flow.writes[step.op]) {
        if (present[v] == 0) now += costs.values[v].bytes;
        present[v] = 1;
      }
    } else if (step.kind == StepKind::page_in) {
      now += costs.values[step.value].bytes;
      present[step.value] = 1;
    } else if (step.kind == StepKind::free) {
      now -= costs.values[step.value].bytes;
      present[step.value] = 0;
    } else if (step.kind == StepKind::page_out) {
      earliest = i + 1;
    }
    ram[i] = now + workspace;
  }
  std::vector<std::vector<Step>> before(count);
  IdVector<ValueId, std::size_t> gone(instance.graph.values.size(), 0);  // after its last free
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = plan.steps[i];
    if (step.kind == StepKind::free) gone[step.value] = i + 1;
    if (step.kind != StepKind::page_in) continue;
    const Bytes bytes = costs.values[step.value].bytes;
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
  const Bytes budget = limits.ram_budget - instance.costs.persistent;  // for transient bytes
  const Plan released = settle(instance, Releases(instance, flow, plan, budget).plan(), Semantics::device);
  return settle(instance, with_prefetches(instance, flow, released, budget), Semantics::device);
}

}  // namespace poet
