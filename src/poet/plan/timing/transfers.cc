#include "poet/plan/timing/transfers.h"

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/machine.h"
#include "poet/plan/timing/timeline.h"

namespace poet {
namespace {

// Slot s lies right before computation s; the last one after all of them.
struct Shiftable {
  Step step;
  int slot = 0;
  int earliest = 0;
  int latest = 0;    // page-in: before the first computation that reads it; page-out: where its RAM is freed
  double begin = 0;  // on the channel, as planned
  int after = -1;    // page-out: the page-in that brings its value
};

struct Release {
  Step step;
  int slot = 0;
  int earliest = 0;   // after the last use
  int page_out = -1;  // the transfer that it waits for
};

struct SlotPlan {
  std::vector<Step> computations;
  // Per computation, what is paged out before its result is written over it, as RAM demands; invalid: none.
  std::vector<ValueId> overwritten;
  std::vector<Shiftable> transfers;
  std::vector<Release> releases;
  bool exact = true;  // false: a slot holds two allocations of one value, which have no order here
};

// What the plan does in which slot, and how far it could be shifted. `line` is the plan's.
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

// Without waits that follow. In a slot: what can be freed, the transfers as they are planned, what their
// end frees, the computation.
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

// When slots begin and computations run, and how much RAM is taken in between.
struct Slots {
  std::vector<double> opens;    // the computation before has ended
  std::vector<double> compute;  // the computation after begins
  std::vector<std::int64_t> ram;
};

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

// What leaves again before anybody has used it leaves after it has come.
void keep_order(SlotPlan& slotted) {
  for (Shiftable& transfer : slotted.transfers)
    if (transfer.after >= 0)
      transfer.begin = std::max(transfer.begin, slotted.transfers[at(transfer.after)].begin);
}

class Planner {
 public:
  Planner(const Instance& instance, std::int64_t capacity) : instance_(instance), capacity_(capacity) {}

  // Latest need first: each page-in ends when it is needed or when the channel is needed for the one after
  // it. Needed is when compute begins; that may be so late because it waits for this page-in, as it does
  // where it is issued right before its use: `without_stalls`, when the computation before has ended.
  void page_in_just_in_time(SlotPlan& slotted, Slots& slots, bool without_stalls) const {
    std::vector<Shiftable*> transfers = of_kind(slotted, StepKind::page_in);
    std::stable_sort(transfers.begin(), transfers.end(),
                     [](const Shiftable* a, const Shiftable* b) { return a->latest > b->latest; });
    double channel = kInfinity;
    for (Shiftable* transfer : transfers) {
      const double needed = (without_stalls ? slots.opens : slots.compute)[at(transfer->latest)];
      const double end = std::min(needed, channel);
      transfer->begin = std::max(end - seconds(*transfer), slots.opens[at(transfer->earliest)]);
      shift(slots, *transfer, slot_at(slots, transfer->begin, transfer->earliest, transfer->latest));
      transfer->begin = std::max(transfer->begin, slots.opens[at(transfer->slot)]);
      channel = transfer->begin;
    }
  }

  // First complete first: each page-out in the first gap that the page-ins leave to the channel. Their RAM is
  // given back at the first slot after the transfer's end.
  void page_out_at_once(SlotPlan& slotted, const Slots& slots) const {
    std::vector<Shiftable*> transfers = of_kind(slotted, StepKind::page_out);
    std::stable_sort(transfers.begin(), transfers.end(),
                     [](const Shiftable* a, const Shiftable* b) { return a->earliest < b->earliest; });
    std::vector<std::pair<double, double>> taken;  // of the channel
    for (const Shiftable* transfer : of_kind(slotted, StepKind::page_in))
      taken.emplace_back(transfer->begin, transfer->begin + seconds(*transfer));
    std::sort(taken.begin(), taken.end());
    for (Shiftable* transfer : transfers) {
      double begin = slots.opens[at(transfer->earliest)];
      for (const auto& [from, to] : taken) {
        if (to <= begin) continue;
        if (from >= begin + seconds(*transfer)) break;
        begin = to;
      }
      transfer->slot = slot_at(slots, begin, transfer->earliest, transfer->slot);
      transfer->begin = begin;
      taken.insert(std::upper_bound(taken.begin(), taken.end(), std::make_pair(begin, begin)),
                   {begin, begin + seconds(*transfer)});
    }
    for (Release& release : slotted.releases) {
      if (release.page_out < 0) continue;
      const Shiftable& transfer = slotted.transfers[at(release.page_out)];
      const int earliest = std::max(release.earliest, transfer.slot);
      const double end = transfer.begin + seconds(transfer);
      while (release.slot > earliest && slots.opens[at(release.slot - 1)] >= end) --release.slot;
    }
  }

 private:
  [[nodiscard]] double seconds(const Shiftable& transfer) const {
    const ValueCost& cost = instance_.costs.values[transfer.step.value];
    const TransferCost& cost_of = transfer.step.kind == StepKind::page_in ? cost.page_in : cost.page_out;
    return cost_of.seconds.value() + instance_.costs.timing.wake_time.value();
  }

  static std::vector<Shiftable*> of_kind(SlotPlan& slotted, StepKind kind) {
    std::vector<Shiftable*> transfers;
    for (Shiftable& transfer : slotted.transfers)
      if (transfer.step.kind == kind) transfers.push_back(&transfer);
    return transfers;
  }

  // The last slot that opens by then.
  static int slot_at(const Slots& slots, double time, int earliest, int latest) {
    const auto after = std::upper_bound(slots.opens.begin(), slots.opens.end(), time);
    return std::clamp(static_cast<int>(after - slots.opens.begin()) - 1, earliest,
                      std::max(earliest, latest));
  }

  // Earlier takes RAM, as far as there is some.
  void shift(Slots& slots, Shiftable& transfer, int slot) const {
    const std::int64_t bytes = instance_.costs.values[transfer.step.value].bytes.value();
    while (transfer.slot < slot) slots.ram[at(transfer.slot++)] -= bytes;
    while (transfer.slot > slot && slots.ram[at(transfer.slot - 1)] + bytes <= capacity_)
      slots.ram[at(--transfer.slot)] += bytes;
  }

  const Instance& instance_;
  const std::int64_t capacity_;  // for transient bytes
};

double energy(const Instance& instance, const Timeline& line) {
  const DeviceTiming& timing = instance.costs.timing;
  return timing.idle.value() * line.makespan + timing.wake_energy.value() * line.wakes;
}

// Neither costlier nor slower; but for the last bits, as sums of seconds are not exact.
bool no_worse(const Instance& instance, const Timeline& a, const Timeline& b) {
  constexpr double kTolerance = 1e-12;
  return energy(instance, a) <= energy(instance, b) * (1 + kTolerance) &&
         a.makespan <= b.makespan * (1 + kTolerance);
}

}  // namespace

Plan plan_transfers(const Instance& instance, const Plan& plan, Semantics semantics, const Limits& limits,
                    const Stop& stop) {
  if (semantics != Semantics::device) return plan;
  constexpr int kRounds = 4;
  Plan best = plan;
  Timeline line = timeline_of(instance, plan);
  const std::int64_t capacity = std::max(transient_budget(instance.costs, limits), line.peak).value();
  const Planner planner(instance, capacity);
  // First to where compute stands as it is; then, for what it waits for, to where it could: only for a gain.
  for (const bool without_stalls : {false, true}) {
    if (without_stalls && (line.stalled == 0 || stop())) break;
    for (int round = 0; round < kRounds; ++round) {
      bool shifted = false;
      for (const bool page_outs : {true, false}) {
        SlotPlan slotted = slot_plan_of(instance, best, line, capacity);
        if (!slotted.exact) return canonicalize(instance, best, Semantics::device);
        Slots slots = slots_of(best, line);
        planner.page_in_just_in_time(slotted, slots, without_stalls);
        if (page_outs) planner.page_out_at_once(slotted, slots);
        keep_order(slotted);
        Plan proposed = plan_of(slotted);
        Timeline timed = timeline_of(instance, proposed);
        const bool takes = timed.peak.value() <= capacity && no_worse(instance, timed, line) &&
                           (!without_stalls || !no_worse(instance, line, timed));
        if (!takes || proposed.steps == best.steps) continue;
        best = std::move(proposed);
        line = std::move(timed);
        shifted = true;
        break;
      }
      if (!shifted || stop()) break;
    }
  }
  return canonicalize(instance, best, Semantics::device);
}

}  // namespace poet
