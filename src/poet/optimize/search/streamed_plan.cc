#include "poet/optimize/search/streamed_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "poet/base/error.h"
#include "poet/plan/canonical.h"

namespace poet {

// A free of the stream makes compute wait for the value's page-out; after that, values leave as early as they
// can.
Plan plan_in_place(const Instance& instance, const Stream& stream) {
  return canonicalize(instance, stream.plan, Semantics::device);
}

Layout layout_of(const Instance& instance, const Plan& plan, const Stream& stream) {
  std::map<std::pair<int, int>, std::int64_t> offsets;  // by number of the taking step, and value
  for (const Taken& taken : stream.addresses) offsets[{taken.taking, taken.value}] = taken.offset;
  std::vector<int> number(plan.steps.size(), -1);
  int takings = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepKind kind = plan.steps[i].kind;
    if (kind == StepKind::compute || kind == StepKind::page_in) number[i] = takings++;
  }
  Layout layout;
  layout.allocations = allocations_of(instance, plan, Semantics::device);
  const std::int64_t grain = std::max<std::int64_t>(1, instance.costs.alignment.value());
  for (Allocation& allocation : layout.allocations) {
    const int value = allocation.value.valid() ? allocation.value.index : -1;
    const auto found = offsets.find({number[static_cast<std::size_t>(allocation.begin)], value});
    ensure(found != offsets.end(), "a stream gives an address to whatever it takes into RAM");
    allocation.offset = found->second;
    allocation.takes_over = -1;
    const std::int64_t end = allocation.offset + allocation.bytes.value();
    layout.arena = std::max(layout.arena, Bytes((end + grain - 1) / grain * grain));
    layout.lower_bound = std::max(layout.lower_bound, allocation.bytes);
  }
  return layout;
}

}  // namespace poet
