#include "poet/pipeline/granularity.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/cost/tabulate.h"
#include "poet/plan/allowance.h"
#include "poet/plan/paged_to_fit.h"
#include "poet/split/split.h"

namespace poet {
namespace {

constexpr Bytes kLeastToSaySo{512};  // where no parts fit
constexpr int kPatience = 2;         // part sizes, and sets of paged values

}  // namespace

Granularity::Granularity(const Graph& training, const Splitting& splitting, const Limits& limits,
                         PersistentPolicy persistent, const DeviceProfile& device, double many_ops)
    : training_(training),
      splitting_(splitting),
      limits_(limits),
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
  SplitOptions options;
  options.part = *part;
  options.ram = budget();
  SplitReport report;
  InParts parts{split(training_, options, &report), part, {}};
  parts.unsplit = std::move(report.unsplit);
  return choice(std::move(parts));
}

Choice Granularity::choose() const {
  Choice best = whole();
  if (budget() <= Bytes(0)) return best;
  if (best.instance.costs.persistent > budget()) return of(finest());  // no parts fit: only to say so
  if (fits_easily(best)) return best;
  estimate(best);
  Bytes part = kLeastPart;
  while (part * 4 <= budget() || too_many(part))
    part = part * 2;  // an operand and a result of half the budget
  int no_better = 0;  // in a row
  for (bool last = false; !last; part = Bytes(part.value() / 2)) {
    Choice next = of(part);
    estimate(next);
    const bool better = is_better(next, best);
    no_better = better ? 0 : no_better + 1;
    const Bytes finer(part.value() / 2);
    last = fits_easily(next) || part <= kLeastPart || too_many(finer) || no_better == kPatience;
    if (better) best = std::move(next);
    const bool known = best.estimate && !best.estimate->breaks_limits;
    last = last || (known && ops_in_parts(training_, finer) > splitting_.compared_ops);
  }
  return best;
}

bool Granularity::fits_easily(const Choice& of) const {
  const Bytes persistent = of.instance.costs.persistent;
  return (of.floor - persistent) * 2 <= budget() - persistent;
}

void Granularity::consider(const Instance& instance, Choice& of) const {
  if (ram_floor(instance, Semantics::device).bytes() > budget()) return;
  std::optional<Joules> energy = splitting_.energy(instance, limits_);
  const bool breaks_limits = !energy && (limits_.deadline || limits_.max_bytes_written);
  if (breaks_limits) energy = splitting_.energy(instance, {budget(), {}, {}});
  if (!energy) return;
  const Estimate made{breaks_limits, *energy};
  if (!of.estimate || made < *of.estimate) of.estimate = made;
}

void Granularity::estimate(Choice& of) const {
  if (!splitting_.energy || of.estimate) return;
  consider(of.instance, of);
  if (!pageable(of.instance).empty()) consider(with_paged(of.instance, {}), of);
}

void Granularity::estimate_some_resident(Choice& of) const {
  estimate(of);
  if (of.estimate) estimate_most_resident(of);
}

void Granularity::estimate_most_resident(Choice& of) const {
  if (!splitting_.energy || of.floor > budget()) return;
  const std::vector<ValueId> all = pageable(of.instance);
  int no_better = 0;  // in a row: the sets page less and less, until no plan is found
  for (const std::vector<ValueId>& paged : sets_to_fit(of.instance, budget(), budget() - of.floor)) {
    if (paged == all) continue;
    const std::optional<Estimate> before = of.estimate;
    consider(with_paged(of.instance, paged), of);
    const bool better = of.estimate && (!before || *of.estimate < *before);
    no_better = better ? 0 : no_better + 1;
    if (of.estimate && no_better == kPatience) break;
  }
}

bool is_better(const Choice& a, const Choice& b) {
  if (a.estimate && b.estimate) return *a.estimate < *b.estimate;
  return a.estimate || b.estimate ? a.estimate.has_value() : a.floor < b.floor;
}

bool Granularity::too_many(Bytes part) const { return ops_in_parts(training_, part) > many_ops_; }

Bytes Granularity::finest() const {
  Bytes part = kLeastToSaySo;
  while (too_many(part) || ops_in_parts(training_, part) > splitting_.compared_ops) part = part * 2;
  return part;
}

}  // namespace poet
