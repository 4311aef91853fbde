#include "poet/pipeline/granularity.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/cost/tabulate.h"
#include "poet/plan/allowance.h"
#include "poet/split/split.h"

namespace poet {
namespace {

constexpr Bytes kLeastPart{512};

}  // namespace

Granularity::Granularity(const Graph& training, const Splitting& splitting, Bytes ram_budget,
                         PersistentPolicy persistent, const DeviceProfile& device, double many_ops)
    : training_(training),
      splitting_(splitting),
      budget_(ram_budget),
      persistent_(persistent),
      device_(device),
      many_ops_(std::max(many_ops, 2 * static_cast<double>(training.ops.size()))) {}

Choice Granularity::choice(InParts parts) const {
  Choice made{std::move(parts), {}, {}, {}};
  made.instance.graph = made.parts.training;
  made.instance.costs = tabulate(made.instance.graph, device_, persistent_);
  if (persistent_ == PersistentPolicy::automatic)
    made.instance = with_paged(made.instance, pageable(made.instance));
  made.floor = ram_floor(made.instance, Semantics::device).bytes();
  return made;
}

Choice Granularity::whole() const { return choice({training_, {}, {}}); }

Choice Granularity::of(std::optional<Bytes> part) const {
  if (!part) return whole();
  if (*part <= Bytes(0)) throw InputError(Field{"split"}, "must be > 0");
  SplitOptions options;
  options.part = *part;
  options.ram = budget_;
  SplitReport report;
  InParts parts{split(training_, options, &report), part, {}};
  parts.unsplit = std::move(report.unsplit);
  return choice(std::move(parts));
}

Choice Granularity::choose() const {
  Choice best = whole();
  if (budget_ <= Bytes(0)) return best;
  if (best.instance.costs.persistent > budget_) return of(finest());  // no parts fit: only to say so
  if (fits_easily(best)) return best;
  estimate(best);
  std::optional<Joules> least = best.energy;
  Bytes part = kLeastPart;
  while (part * 4 <= budget_ || too_many(part))
    part = part * 2;  // an operand and a result of half the budget
  for (bool last = false; !last; part = Bytes(part.value() / 2)) {
    Choice next = of(part);
    estimate(next);
    last = fits_easily(next) || part <= kLeastPart || too_many(Bytes(part.value() / 2));
    if (!least || (next.energy && *next.energy < *least)) {
      least = next.energy;
      best = std::move(next);
    }
  }
  return best;
}

void Granularity::estimate(Choice& of) const {
  if (splitting_.energy && !of.energy && of.floor <= budget_)
    of.energy = splitting_.energy(of.instance, budget_);
}

std::optional<Joules> Granularity::energy_some_resident(const Choice& of) const {
  if (!splitting_.energy || !of.energy) return of.energy;
  std::optional<Joules> least = of.energy;
  std::vector<ValueId> by_size = pageable(of.instance);
  const IdVector<ValueId, ValueCost>& costs = of.instance.costs.values;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](ValueId a, ValueId b) { return costs[a].bytes > costs[b].bytes; });
  for (const int quarters : {1, 2, 3}) {
    const auto room = Bytes((budget_ - of.floor).value() / 4 * quarters);
    std::vector<ValueId> paged = by_size;
    Bytes resident{};
    while (!paged.empty() && resident + costs[paged.back()].bytes <= room) {
      resident += costs[paged.back()].bytes;
      paged.pop_back();
    }
    const auto joules = splitting_.energy(with_paged(of.instance, paged), budget_);
    if (joules && *joules < *least) least = joules;
  }
  return least;
}

bool Granularity::too_many(Bytes part) const { return ops_in_parts(training_, part) > many_ops_; }

Bytes Granularity::finest() const {
  Bytes part = kLeastPart;
  while (too_many(part)) part = part * 2;
  return part;
}

}  // namespace poet
