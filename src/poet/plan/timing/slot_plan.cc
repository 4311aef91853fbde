#include "poet/plan/timing/slot_plan.h"

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/machine.h"

namespace poet {

SlotPlan slot_plan_of(const Instance& instance, const Plan& plan, const Timeline& line,
                      std::int64_t capacity) {
  const Dataflow flow = dataflow(instance.graph);
  struct SlotInterval {
    int begin = 0;      // slot
    int freed = 0;      // slot of the last free
    int last_use = 0;   // slot after it
    int page_out = -1;  // transfers
    int page_in = -1;   // that nobody has used yet
    bool in_ram = false;
    bool paged_in = false;
    bool freed_late = false;  // the last free is for a page-out of its own slot
  };
  IdVector<ValueId, SlotInterval> intervals(instance.graph.values.size());
  SlotPlan slotted;
  Machine machine(instance, flow, Semantics::device);
  const bool waits = has_waits(instance, Semantics::device);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const int slot = static_cast<int>(slotted.computations.size());
    for (const ValueId v : machine.awaited_by(step)) machine.take({StepKind::wait, OpId(), v});
    switch (step.kind) {
      case StepKind::page_out: {
        SlotInterval& live = intervals[step.value];
        live.page_out = static_cast<int>(slotted.transfers.size());
        slotted.transfers.push_back({step, slot, live.paged_in ? slot : live.begin, slot, 0, live.page_in});
        if (live.page_in >= 0) slotted.transfers[at(live.page_in)].latest = slot;
        live.page_in = -1;
        break;
      }
      case StepKind::page_in: {
        SlotInterval& live = intervals[step.value];
        const int freed = live.freed;
        if (freed == slot && live.freed_late) slotted.exact = false;
        live = {slot, freed, slot, -1, static_cast<int>(slotted.transfers.size()), true, true, false};
        // After the free, which may wait for a transfer in its slot.
        slotted.transfers.push_back({step, slot, std::min(freed + 1, slot), slot});
        break;
      }
      case StepKind::wait:
        break;
      case StepKind::free: {
        SlotInterval& live = intervals[step.value];
        if (live.page_out >= 0) slotted.transfers[at(live.page_out)].latest = slot;
        if (live.page_in >= 0) slotted.exact = false;  // in vain
        slotted.releases.push_back({step, slot, live.last_use, live.page_out});
        const bool late = live.page_out >= 0 && slotted.transfers[at(live.page_out)].slot == slot;
        live = {};
        live.freed = slot;
        live.freed_late = late;
        break;
      }
      case StepKind::compute:
        slotted.overwritten.emplace_back();
        if (const ValueId v = machine.overwritten_by(plan, i);
            waits && v.valid() && intervals[v].page_out >= 0) {
          const std::int64_t apart = (line.ram[i] + instance.costs.values[v].bytes).value();
          if (apart > capacity) slotted.overwritten.back() = v;
        }
        for (const ValueId v : flow.reads[step.op]) {
          SlotInterval& live = intervals[v];
          live.last_use = slot + 1;
          if (live.page_in >= 0) slotted.transfers[at(live.page_in)].latest = slot;
          live.page_in = -1;
        }
        for (const ValueId v : flow.writes[step.op]) {
          SlotInterval& live = intervals[v];
          if (!live.in_ram) live = {slot + 1, live.freed, slot + 1, -1, -1, true, false, false};
          live.last_use = slot + 1;
        }
        slotted.computations.push_back(step);
        break;
    }
    machine.take(step);
  }
  return slotted;
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
