#include "poet/optimize/search/streamed_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "poet/base/error.h"
#include "poet/plan/canonical.h"
#include "poet/plan/layout/addresses.h"
#include "poet/plan/timing/overlap.h"
#include "poet/plan/timing/timeline.h"
#include "poet/plan/timing/transfers.h"

namespace poet {

// Adds the waits for page-outs that the stream's frees imply; canonicalize() then frees values as early as
// possible.
Plan plan_in_place(const Instance& instance, const Stream& stream) {
  return canonicalize(instance, stream.plan, Semantics::device);
}

namespace {

// Returns the most bytes allocated at one time; results in place count once with their operands.
Bytes greatest_load_of(const std::vector<Allocation>& allocations, std::size_t steps) {
  std::vector<int> end;
  for (const Allocation& allocation : allocations) end.push_back(allocation.end);
  for (const Allocation& allocation : allocations)
    if (allocation.takes_over >= 0) end[static_cast<std::size_t>(allocation.takes_over)] = allocation.begin;
  std::vector<Bytes> change(steps + 1);
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    if (end[i] <= allocations[i].begin) continue;
    change[static_cast<std::size_t>(allocations[i].begin)] += allocations[i].bytes;
    change[static_cast<std::size_t>(end[i])] -= allocations[i].bytes;
  }
  Bytes load;
  Bytes greatest;
  for (const Bytes bytes : change) greatest = std::max(greatest, load += bytes);
  return greatest;
}

// Returns, per step that allocates, its number among those steps.
std::vector<int> allocation_numbers(const Plan& plan) {
  std::vector<int> number(plan.steps.size(), -1);
  int allocations = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepKind kind = plan.steps[i].kind;
    if (kind == StepKind::compute || kind == StepKind::page_in) number[i] = allocations++;
  }
  return number;
}

// Returns the allocations of the original's plan with their addresses.
std::vector<StreamAddress> addresses_without_loads(const WithLoads& loads, const PlacedPlan& with,
                                                   const std::vector<char>& left_out) {
  std::vector<int> renumbered;
  int kept = 0;
  for (const char out : left_out) renumbered.push_back(out != 0 ? -1 : kept++);
  const std::vector<int> number = allocation_numbers(with.plan);
  std::vector<StreamAddress> addresses;
  for (const Allocation& allocation : with.layout.allocations) {
    const int before = number[static_cast<std::size_t>(allocation.begin)];
    const int number_without = renumbered[static_cast<std::size_t>(before)];
    const int value = allocation.value.valid() ? loads.value_of[allocation.value].index : -1;
    if (number_without >= 0) addresses.push_back({number_without, value, allocation.offset});
  }
  return addresses;
}

}  // namespace

Layout layout_of(const Instance& instance, const Plan& plan, const std::vector<StreamAddress>& addresses) {
  std::map<std::pair<int, int>, std::int64_t> offsets;  // by number of the allocating step, and value
  for (const StreamAddress& one : addresses) offsets[{one.allocation, one.value}] = one.offset;
  const std::vector<int> number = allocation_numbers(plan);
  Layout layout;
  layout.allocations = allocations_of(instance, plan, Semantics::device);
  layout.lower_bound = greatest_load_of(layout.allocations, plan.steps.size());
  const std::int64_t grain = std::max<std::int64_t>(1, instance.costs.alignment.value());
  for (Allocation& allocation : layout.allocations) {
    const int value = allocation.value.valid() ? allocation.value.index : -1;
    const auto found = offsets.find({number[static_cast<std::size_t>(allocation.begin)], value});
    ensure(found != offsets.end(), "a stream gives an address to whatever it takes into RAM");
    allocation.offset = found->second;
    const std::int64_t end = allocation.offset + allocation.bytes.value();
    layout.arena = std::max(layout.arena, Bytes((end + grain - 1) / grain * grain));
  }
  part_what_lies_apart(layout.allocations);
  return layout;
}

PlacedPlan placed_without_loads(const Instance& original, const WithLoads& loads, const PlacedPlan& plan) {
  const WithoutLoads without = without_loads(loads, original, plan.plan);
  PlacedPlan made;
  made.plan = canonicalize(original, without.plan, Semantics::device);
  made.layout = layout_of(original, made.plan, addresses_without_loads(loads, plan, without.left_out));
  return made;
}

Plan timed_without_loads(const Instance& original, const WithLoads& loads, const Plan& plan,
                         const Limits& limits) {
  Plan steps = without_loads(loads, original, plan).plan;
  std::erase_if(steps.steps,
                [](const Step& step) { return step.kind == StepKind::wait || step.kind == StepKind::free; });
  return original.costs.timing.concurrent ? overlapped(original, steps, limits)
                                          : canonicalize(original, steps, Semantics::device);
}

Plan planned_without_loads(const LoadsOf& of, const Plan& plan, const Stop& stop) {
  const Plan timed = timed_without_loads(of.original, of.loads, plan, of.limits);
  return plan_transfers(of.original, timed, Semantics::device, of.limits, stop);
}

Joules energy_without_loads(const LoadsOf& of, const Plan& plan, const Stop& stop) {
  const Plan planned = planned_without_loads(of, plan, stop);
  return energy_of(of.original, planned, timeline_of(of.original, planned));
}

}  // namespace poet
