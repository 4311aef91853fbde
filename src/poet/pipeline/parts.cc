#include "poet/pipeline/parts.h"

#include <utility>

#include "poet/base/error.h"
#include "poet/cost/instance.h"
#include "poet/cost/tabulate.h"
#include "poet/plan/allowance.h"
#include "poet/split/split.h"

namespace poet {
namespace {

Bytes least_ram(const Graph& training, PersistentPolicy persistent, const DeviceProfile& device) {
  Instance instance;
  instance.graph = training;
  instance.costs = tabulate(training, device, persistent);
  if (persistent == PersistentPolicy::automatic) instance = with_paged(instance, pageable(instance));
  return ram_floor(instance, Semantics::device).bytes();
}

InParts in_parts_of(const Graph& training, Bytes part, Bytes ram_budget) {
  SplitOptions options;
  options.part = part;
  options.ram = ram_budget;
  return {split(training, options), part};
}

}  // namespace

InParts in_parts(Graph training, const Splitting& splitting, Bytes ram_budget, PersistentPolicy persistent,
                 const DeviceProfile& device) {
  if (splitting.part) {
    if (*splitting.part <= Bytes(0)) throw InputError(Field{"split"}, "must be > 0");
    return in_parts_of(training, *splitting.part, ram_budget);
  }
  constexpr Bytes kLeastPart{512};
  const auto fits = [&](const Graph& graph) {
    return least_ram(graph, persistent, device) * 2 <= ram_budget;
  };
  if (!splitting.automatic || ram_budget <= Bytes(0) || fits(training)) return {std::move(training), {}};
  Bytes part = kLeastPart;
  while (part * 8 <= ram_budget) part = part * 2;  // operands and a result of half the budget
  InParts best = in_parts_of(training, part, ram_budget);
  while (part > kLeastPart && !fits(best.training)) {
    part = Bytes(part.value() / 2);
    best = in_parts_of(training, part, ram_budget);
  }
  return best;
}

}  // namespace poet
