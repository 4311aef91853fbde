#include "poet/plan/timing/slot_plan.h"

#include <algorithm>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/machine.h"

namespace poet {

namespace {

/// Divides a plan's steps into slots, one step after the other.
class Slotting {
 public:
  explicit Slotting(std::size_t values) : intervals_(values) {}

  [[nodiscard]] SlotPlan& slotted() { return slotted_; }

  void page_out(const Step& step) {
    const int slot = current();
    Interval& live = intervals_[step.value];
    live.page_out = static_cast<int>(slotted_.transfers.size());
    slotted_.transfers.push_back({step, slot, live.paged_in ? slot : live.begin, slot, 0, live.page_in});
    use_page_in(live, slot);
  }

  void page_in(const Step& step) {
    const int slot = current();
    Interval& live = intervals_[step.value];
    const int freed = live.freed;
    if (freed == slot && live.freed_late) slotted_.exact = false;
    live = {slot, freed, slot, -1, static_cast<int>(slotted_.transfers.size()), true, true, false};
    // After the free, which may wait for a transfer in its slot.
    slotted_.transfers.push_back({step, slot, std::min(freed + 1, slot), slot});
  }

  void free(const Step& step) {
    const int slot = current();
    Interval& live = intervals_[step.value];
    if (live.page_out >= 0) slotted_.transfers[at(live.page_out)].latest = slot;
    if (live.page_in >= 0) slotted_.exact = false;  // in vain
    slotted_.releases.push_back({step, slot, live.last_use, live.page_out});
    const bool late = live.page_out >= 0 && slotted_.transfers[at(live.page_out)].slot == slot;
    live = {};
    live.freed = slot;
    live.freed_late = late;
  }

  /// `overwritten`: the operand for whose page-out the computation has to wait; invalid: none.
  void compute(const Step& step, const Dataflow& flow, ValueId overwritten) {
    const int slot = current();
    slotted_.overwritten.push_back(overwritten);
    for (const ValueId v : flow.reads[step.op]) {
      intervals_[v].last_use = slot + 1;
      use_page_in(intervals_[v], slot);
    }
    for (const ValueId v : flow.writes[step.op]) {
      Interval& live = intervals_[v];
      if (!live.in_ram) live = {slot + 1, live.freed, slot + 1, -1, -1, true, false, false};
      live.last_use = slot + 1;
    }
    slotted_.computations.push_back(step);
  }

  [[nodiscard]] bool is_paged_out(ValueId v) const { return intervals_[v].page_out >= 0; }

 private:
  struct Interval {
    int begin = 0;      // slot
    int freed = 0;      // slot of the last free
    int last_use = 0;   // slot after it
    int page_out = -1;  // transfers
    int page_in = -1;   // not used yet
    bool in_ram = false;
    bool paged_in = false;
    bool freed_late = false;  // the last free is for a page-out of its own slot
  };

  [[nodiscard]] int current() const { return static_cast<int>(slotted_.computations.size()); }

  void use_page_in(Interval& live, int slot) {
    if (live.page_in >= 0) slotted_.transfers[at(live.page_in)].latest = slot;
    live.page_in = -1;
  }

  IdVector<ValueId, Interval> intervals_;
  SlotPlan slotted_;
};

}  // namespace

SlotPlan slot_plan_of(const Instance& instance, const Plan& plan, const Timeline& line,
                      std::int64_t capacity) {
  const Dataflow flow = dataflow(instance.graph);
  Slotting slotting(instance.graph.values.size());
  Machine machine(instance, flow, Semantics::device);
  const bool waits = has_waits(instance, Semantics::device);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (const ValueId v : machine.awaited_by(step)) machine.take({StepKind::wait, OpId(), v});
    switch (step.kind) {
      case StepKind::page_out:
        slotting.page_out(step);
        break;
      case StepKind::page_in:
        slotting.page_in(step);
        break;
      case StepKind::wait:
        break;
      case StepKind::free:
        slotting.free(step);
        break;
      case StepKind::compute: {
        ValueId overwritten = machine.overwritten_by(plan, i);
        if (overwritten.valid()) {
          const std::int64_t apart = (line.ram[i] + instance.costs.values[overwritten].bytes).value();
          if (!waits || !slotting.is_paged_out(overwritten) || apart <= capacity) overwritten = ValueId();
        }
        slotting.compute(step, flow, overwritten);
        break;
      }
    }
    machine.take(step);
  }
  return std::move(slotting.slotted());
}

Plan plan_of(const SlotPlan& slotted) {
  const std::size_t slots = slotted.computations.size() + 1;
  std::vector<std::vector<const Shiftable*>> transfers(slots);
  std::vector<std::vector<const Release*>> before(slots), after(slots);
  for (const Shiftable& transfer : slotted.transfers) transfers[at(transfer.slot)].push_back(&transfer);
  for (const Release& release : slotted.releases) {
    const bool waits = release.page_out >= 0 && slotted.transfers[at(release.page_out)].slot == release.slot;
    (waits ? after : before)[at(release.slot)].push_back(&release);
  }
  Plan plan;
  for (std::size_t s = 0; s < slots; ++s) {
    for (const Release* release : before[s]) plan.steps.push_back(release->step);
    std::stable_sort(transfers[s].begin(), transfers[s].end(),
                     [](const Shiftable* a, const Shiftable* b) { return a->begin < b->begin; });
    for (const Shiftable* transfer : transfers[s]) plan.steps.push_back(transfer->step);
    for (const Release* release : after[s]) plan.steps.push_back(release->step);
    if (s + 1 == slots) break;
    if (const ValueId v = slotted.overwritten[s]; v.valid())
      plan.steps.push_back({StepKind::wait, OpId(), v});
    plan.steps.push_back(slotted.computations[s]);
  }
  return plan;
}

Slots slots_of(const Plan& plan, const Timeline& line) {
  Slots slots;
  slots.opens.push_back(0);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    most = std::max(most, line.ram[i].value());
    if (plan.steps[i].kind != StepKind::compute) continue;
    slots.compute.push_back(line.begin[i]);
    slots.opens.push_back(line.end[i]);
    slots.ram.push_back(most);
    most = 0;
  }
  slots.compute.push_back(line.makespan);
  slots.ram.push_back(most);
  return slots;
}

}  // namespace poet
