#include "poet/optimize/search/prefetch_in_place.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "poet/plan/canonical.h"
#include "poet/plan/timing/timeline.h"

namespace poet {
namespace {

/// Records, for every address, the step from which earlier allocations no longer use it.
class FreeSince {
 public:
  /// Frees [begin, end) from `step` on. Steps must not decrease from call to call.
  void set(std::int64_t begin, std::int64_t end, std::size_t step) {
    part_at(begin);
    part_at(end);
    since_.erase(since_.lower_bound(begin), since_.lower_bound(end));
    since_[begin] = step;
  }
  [[nodiscard]] std::size_t of(std::int64_t begin, std::int64_t end) const {
    std::size_t latest = 0;
    for (auto part = std::prev(since_.upper_bound(begin)); part != since_.end() && part->first < end; ++part)
      latest = std::max(latest, part->second);
    return latest;
  }

 private:
  void part_at(std::int64_t address) {
    since_.try_emplace(address, std::prev(since_.upper_bound(address))->second);
  }

  std::map<std::int64_t, std::size_t> since_{{0, 0}};  // each entry holds up to the next address
};

using Order = std::vector<std::size_t>;  // of a plan's steps, as indices

/// Returns the order with each page-in as early as its address is free, in the order of page-ins.
Order with_page_ins_early(const Instance& instance, const Plan& plan, const Layout& layout) {
  const std::size_t count = plan.steps.size();
  std::vector<std::vector<const Allocation*>> ends(count + 1);
  std::vector<const Allocation*> begun(count, nullptr);  // per step
  for (const Allocation& one : layout.allocations) {
    ends[static_cast<std::size_t>(one.end)].push_back(&one);
    begun[static_cast<std::size_t>(one.begin)] = &one;
  }
  FreeSince free;
  IdVector<ValueId, std::size_t> left(instance.graph.values.size(), 0);  // the step after its last free
  std::vector<Order> before(count);
  std::size_t earliest = 0;  // after the last page-out, and not before the previous page-in
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = plan.steps[i];
    const std::size_t since = step.kind == StepKind::free ? i + 1 : i;
    if (step.kind == StepKind::free) left[step.value] = since;
    for (const Allocation* gone : ends[i]) free.set(gone->offset, gone->offset + gone->bytes.value(), since);
    if (step.kind == StepKind::page_out) earliest = i + 1;
    if (step.kind != StepKind::page_in) continue;
    earliest = std::max(earliest, left[step.value]);
    if (const Allocation* taken = begun[i])
      earliest = std::max(earliest, free.of(taken->offset, taken->offset + taken->bytes.value()));
    before[earliest].push_back(i);
  }
  Order order;
  for (std::size_t i = 0; i < count; ++i) {
    order.insert(order.end(), before[i].begin(), before[i].end());
    if (plan.steps[i].kind != StepKind::page_in) order.push_back(i);
  }
  return order;
}

/// Returns the plan in the new order. Waits for page-ins are dropped, since canonicalize() adds them at uses.
Plan in_order(const Instance& instance, const Plan& plan, const Order& order) {
  Plan moved;
  IdVector<ValueId, char> leaves(instance.graph.values.size(), 0);
  for (const std::size_t i : order) {
    const Step& step = plan.steps[i];
    if (step.kind == StepKind::page_out) leaves[step.value] = 1;
    if (step.kind == StepKind::page_in) leaves[step.value] = 0;
    if (step.kind != StepKind::wait || leaves[step.value] != 0) moved.steps.push_back(step);
  }
  return canonicalize(instance, moved, Semantics::device);
}

/// Returns the layout of the steps in their new order.
std::vector<StreamAddress> addresses_in_order(const PlacedPlan& placed, const Order& order) {
  std::vector<int> number(placed.plan.steps.size(), -1);
  int allocations = 0;
  for (const std::size_t i : order) {
    const StepKind kind = placed.plan.steps[i].kind;
    if (kind == StepKind::compute || kind == StepKind::page_in) number[i] = allocations++;
  }
  std::vector<StreamAddress> addresses;
  for (const Allocation& one : placed.layout.allocations)
    addresses.push_back(
        {number[static_cast<std::size_t>(one.begin)], one.value.valid() ? one.value.index : -1, one.offset});
  return addresses;
}

}  // namespace

PlacedPlan prefetched_in_place(const Instance& instance, PlacedPlan placed) {
  const Timeline line = timeline_of(instance, placed.plan);
  placed.energy = energy_of(instance, placed.plan, line);
  if (!instance.costs.timing.concurrent) return placed;
  const Order order = with_page_ins_early(instance, placed.plan, placed.layout);
  PlacedPlan early;
  early.plan = in_order(instance, placed.plan, order);
  const Timeline sooner = timeline_of(instance, early.plan);
  early.energy = energy_of(instance, early.plan, sooner);
  if (early.energy >= placed.energy || sooner.makespan > line.makespan) return placed;
  early.layout = layout_of(instance, early.plan, addresses_in_order(placed, order));
  return early;
}

}  // namespace poet
