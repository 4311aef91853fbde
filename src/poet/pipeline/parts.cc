#include "poet/pipeline/parts.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "poet/cost/tabulate.h"
#include "poet/pipeline/granularity.h"
#include "poet/split/indexed.h"

namespace poet {
namespace {

/// What there is to choose for.
struct Wanted {
  const Splitting& splitting;
  const Limits& limits;
  PersistentPolicy persistent;
  const DeviceProfile& device;

  [[nodiscard]] Granularity granularity(const Graph& training) const {
    return {training, splitting, limits, persistent, device};
  }
};

constexpr double kFewer = 20'000;  // ops; a second look is not worth a long one

/// Returns the ops up to which finer parts are tried for their energy: a full search has to get far with
/// them, too. 200 ops per second of the time limit (of which `compared_ops` follows), at least 600, at most
/// 2,000.
double few_ops(const Splitting& splitting) {
  constexpr double kOfCompared = 0.08;
  return std::clamp(kOfCompared * splitting.compared_ops, std::min(600.0, splitting.compared_ops), 2'000.0);
}

/// How Granularity estimates the energy of a choice.
using Estimator = void (Granularity::*)(Choice&) const;

/// Parts that just fit may be too coarse for energy: finer parts leave more RAM for other values. Leaves
/// large graphs as they are, and those that are not split: the fast kernels sum in other orders over parts.
Choice with_finer_parts(Choice coarse, const Graph& training, const Wanted& wanted,
                        const Granularity& granularity, Estimator estimate) {
  constexpr int kNoBetter = 2;  // sizes of parts
  const double few = few_ops(wanted.splitting);
  const bool large = static_cast<double>(coarse.instance.graph.ops.size()) > few;
  if (!wanted.splitting.energy || !coarse.parts.part || large) return coarse;
  if (coarse.floor > wanted.limits.ram_budget) return coarse;  // no parts fit
  (granularity.*estimate)(coarse);
  Bytes part = *coarse.parts.part;
  Choice best = std::move(coarse);
  for (int no_better = 0; part > kLeastPart && no_better < kNoBetter;) {
    part = Bytes(part.value() / 2);
    if (ops_in_parts(training, part) > few) break;
    Choice finer = granularity.of(part);
    (granularity.*estimate)(finer);
    const bool better = is_better(finer, best);  // by any gain: full searches gain more from finer parts
    no_better = better ? 0 : no_better + 1;
    if (better) best = std::move(finer);
  }
  return best;
}

/// Chooses parts for a step whose persistent values are resident or paged, whichever is cheaper. Residence of
/// all may need finer parts than paging, and be cheaper with them.
Choice for_any_residence(const Graph& training, const Wanted& wanted) {
  const auto& [splitting, limits, persistent, device] = wanted;
  const Granularity paging = wanted.granularity(training);
  Choice paged = paging.choose();
  if (!splitting.energy || paged.floor > limits.ram_budget) return paged;
  const auto ops = static_cast<double>(paged.instance.graph.ops.size());
  paged = with_finer_parts(std::move(paged), training, wanted, paging, &Granularity::estimate_most_resident);
  if (ops > splitting.compared_ops) return paged;
  const Granularity keeping(training, splitting, limits, PersistentPolicy::resident, device,
                            std::min(kFewer, splitting.compared_ops));
  if (keeping.whole().instance.costs.persistent > limits.ram_budget) return paged;
  Choice kept = with_finer_parts(keeping.choose(), training, wanted, keeping, &Granularity::estimate);
  if (kept.parts.part == paged.parts.part) return paged;
  keeping.estimate(kept);
  const bool refined = paged.parts.part && ops <= few_ops(splitting);
  if (!refined && kept.estimate) paging.estimate_some_resident(paged);
  return kept.estimate && is_better(kept, paged) ? std::move(kept) : std::move(paged);
}

/// As the splitting says.
Choice chosen(const Graph& training, const Wanted& wanted) {
  const Granularity granularity = wanted.granularity(training);
  if (wanted.splitting.part) return granularity.of(wanted.splitting.part);
  if (!wanted.splitting.automatic) return granularity.whole();
  if (wanted.persistent == PersistentPolicy::automatic) return for_any_residence(training, wanted);
  return with_finer_parts(granularity.choose(), training, wanted, granularity, &Granularity::estimate);
}

/// Tables whose rows cost less to transfer than the whole does; none where the storage does not hold them.
std::vector<ValueId> worth_an_index(const Graph& training, const DeviceProfile& device) {
  std::vector<ValueId> found;
  const std::vector<ValueId> tables = indexable_tables(training);
  if (tables.empty() || !device.storage) return found;
  const CostTable whole = tabulate(training, device);
  const CostTable by_index = tabulate(with_indexed(training, tables), device);
  const auto price = [](const CostTable& costs, ValueId v) {
    return costs.values[v].page_in.energy + costs.values[v].page_out.energy;
  };
  for (const ValueId v : tables)
    if (price(by_index, v) < price(whole, v)) found.push_back(v);
  if (by_index.storage_capacity.value_or(Bytes(0)) < Bytes(0)) found.clear();
  return found;
}

}  // namespace

InParts in_parts(const Graph& training, const Splitting& splitting, const Limits& limits,
                 PersistentPolicy persistent, const DeviceProfile& device) {
  const Wanted wanted{splitting, limits, persistent, device};
  const Granularity dense = wanted.granularity(training);
  const bool chooses = splitting.tables && splitting.energy && persistent == PersistentPolicy::automatic &&
                       limits.ram_budget > Bytes(0);
  const std::vector<ValueId> tables = chooses ? worth_an_index(training, device) : std::vector<ValueId>();
  if (tables.empty()) return chosen(training, wanted).parts;
  const Graph by_index = with_indexed(training, tables);
  Choice with = chosen(by_index, wanted);
  const bool too_many = static_cast<double>(with.instance.graph.ops.size()) > splitting.compared_ops;
  if (too_many && with.floor <= limits.ram_budget) return std::move(with.parts);
  wanted.granularity(by_index).estimate_some_resident(with);
  if (!with.estimate) {  // the numbers of the rows take RAM, too
    Choice whole = chosen(training, wanted);
    dense.estimate(whole);
    return is_better(with, whole) ? std::move(with.parts) : std::move(whole.parts);
  }
  // Whole tables in very many parts are not compared.
  if (with.parts.part && ops_in_parts(training, *with.parts.part) > splitting.compared_ops)
    return std::move(with.parts);
  Choice without = dense.of(with.parts.part);
  dense.estimate_some_resident(without);
  return is_better(without, with) ? chosen(training, wanted).parts : std::move(with.parts);
}

}  // namespace poet
