#include "poet/plan/timing/shift_transfers.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "poet/base/numbers.h"
#include "poet/graph/dataflow.h"

namespace poet {
namespace {

std::vector<Shiftable*> of_kind(SlotPlan& slotted, StepKind kind) {
  std::vector<Shiftable*> transfers;
  for (Shiftable& transfer : slotted.transfers)
    if (transfer.step.kind == kind) transfers.push_back(&transfer);
  return transfers;
}

// The last slot that opens by then.
int slot_at(const Slots& slots, double time, int earliest, int latest) {
  const auto after = std::upper_bound(slots.opens.begin(), slots.opens.end(), time);
  return std::clamp(static_cast<int>(after - slots.opens.begin()) - 1, earliest, std::max(earliest, latest));
}

/// Per release the last slot that it may stand in: before its value comes again.
std::vector<int> last_slots(const Instance& instance, const SlotPlan& slotted) {
  const Dataflow flow = dataflow(instance.graph);
  // Twice the slot of a page-in, and one more for the computation behind a slot.
  IdVector<ValueId, std::vector<int>> comes(instance.graph.values.size());
  for (int i = 0; i < std::ssize(slotted.computations); ++i)
    for (const ValueId v : flow.writes[slotted.computations[at(i)].op]) comes[v].push_back(2 * i + 1);
  for (const Shiftable& transfer : slotted.transfers)
    if (transfer.step.kind == StepKind::page_in) comes[transfer.step.value].push_back(2 * transfer.slot);
  for (std::vector<int>& moments : comes) std::sort(moments.begin(), moments.end());
  std::vector<int> last;
  for (const Release& release : slotted.releases) {
    const std::vector<int>& moments = comes[release.step.value];
    const auto next = std::lower_bound(moments.begin(), moments.end(), 2 * release.slot);
    const int before =
        next == moments.end() ? static_cast<int>(slotted.computations.size()) : (*next - 1) / 2;
    last.push_back(std::max(release.slot, before));
  }
  return last;
}

/// When the channel moves something: stretches of time with gaps between them. O(log stretches) a call, and
/// for each gap that is too short.
class BusyChannel {
 public:
  void add(double from, double to) {
    auto next = stretches_.upper_bound(from);
    if (next != stretches_.begin() && std::prev(next)->second >= from) {
      --next;
      from = next->first;
      to = std::max(to, next->second);
    }
    while (next != stretches_.end() && next->first <= to) {
      to = std::max(to, next->second);
      next = stretches_.erase(next);
    }
    stretches_.emplace_hint(next, from, to);
  }

  /// The first time from `begin` on at which it is free for so long.
  [[nodiscard]] double free_from(double begin, double seconds) const {
    auto next = stretches_.upper_bound(begin);
    if (next != stretches_.begin() && std::prev(next)->second > begin) --next;
    for (; next != stretches_.end() && next->first < begin + seconds; ++next) begin = next->second;
    return begin;
  }

 private:
  std::map<double, double> stretches_;  // from, to
};

double energy_of_time(const Instance& instance, const Timeline& line) {
  const DeviceTiming& timing = instance.costs.timing;
  return timing.idle.value() * line.makespan + timing.wake_energy.value() * line.wakes;
}

}  // namespace

void TransferShifter::page_in_just_in_time(SlotPlan& slotted, Slots& slots, bool without_stalls) const {
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

void TransferShifter::page_out_at_once(SlotPlan& slotted, const Slots& slots) const {
  std::vector<Shiftable*> transfers = of_kind(slotted, StepKind::page_out);
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const Shiftable* a, const Shiftable* b) { return a->earliest < b->earliest; });
  BusyChannel channel;
  for (const Shiftable* transfer : of_kind(slotted, StepKind::page_in))
    channel.add(transfer->begin, transfer->begin + seconds(*transfer));
  for (Shiftable* transfer : transfers) {
    const double begin = channel.free_from(slots.opens[at(transfer->earliest)], seconds(*transfer));
    transfer->slot = slot_at(slots, begin, transfer->earliest, transfer->slot);
    transfer->begin = begin;
    channel.add(begin, begin + seconds(*transfer));
  }
  for (Release& release : slotted.releases) {
    if (release.page_out < 0) continue;
    const Shiftable& transfer = slotted.transfers[at(release.page_out)];
    const int earliest = std::max(release.earliest, transfer.slot);
    const double end = transfer.begin + seconds(transfer);
    while (release.slot > earliest && slots.opens[at(release.slot - 1)] >= end) --release.slot;
  }
}

void TransferShifter::release_later(SlotPlan& slotted, Slots& slots) const {
  const std::vector<int> last = last_slots(instance_, slotted);
  for (std::size_t i = 0; i < slotted.releases.size(); ++i) {
    Release& release = slotted.releases[i];
    if (release.page_out < 0) continue;
    const Shiftable& transfer = slotted.transfers[at(release.page_out)];
    const double end = transfer.begin + seconds(transfer);
    const std::int64_t bytes = instance_.costs.values[release.step.value].bytes.value();
    while (release.slot < last[i] && slots.opens[at(release.slot)] < end &&
           slots.ram[at(release.slot)] + bytes <= capacity_)
      slots.ram[at(release.slot++)] += bytes;
  }
}

double TransferShifter::seconds(const Shiftable& transfer) const {
  const ValueCost& cost = instance_.costs.values[transfer.step.value];
  const bool in = transfer.step.kind == StepKind::page_in;
  const double median = (in ? cost.page_in : cost.page_out).seconds.value();
  return median * (in ? stretch_.page_in : stretch_.page_out) + instance_.costs.timing.wake_time.value();
}

// Earlier takes RAM, as far as there is some.
void TransferShifter::shift(Slots& slots, Shiftable& transfer, int slot) const {
  const std::int64_t bytes = instance_.costs.values[transfer.step.value].bytes.value();
  while (transfer.slot < slot) slots.ram[at(transfer.slot++)] -= bytes;
  while (transfer.slot > slot && slots.ram[at(transfer.slot - 1)] + bytes <= capacity_)
    slots.ram[at(--transfer.slot)] += bytes;
}

void keep_order(SlotPlan& slotted) {
  for (Shiftable& transfer : slotted.transfers)
    if (transfer.after >= 0)
      transfer.begin = std::max(transfer.begin, slotted.transfers[at(transfer.after)].begin);
}

bool no_worse(const Instance& instance, const Timeline& a, const Timeline& b) {
  constexpr double kTolerance = 1e-12;
  return energy_of_time(instance, a) <= energy_of_time(instance, b) * (1 + kTolerance) &&
         a.makespan <= b.makespan * (1 + kTolerance);
}

}  // namespace poet
