#include "poet/optimize/problem/residence.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "poet/graph/dataflow.h"
#include "poet/plan/allowance.h"
#include "poet/plan/paged_to_fit.h"

namespace poet {
namespace {

// Fractions of the RAM not needed by the largest op that resident values take. All are tried if time or
// writing is limited, else those up to kMostToStay, or kMostOfFew where few sets are tried.
constexpr std::array kFractions = {1.0, 0.95, 0.9, 0.85, 0.75, 0.5, 0.25, 0.1, 0.0};
constexpr double kMostToStay = 0.75;
constexpr double kMostOfFew = 0.1;

Bytes floor_of(const Instance& instance) { return ram_floor(instance, Semantics::device).bytes(); }

/// Returns, per paged value, the energy of one load, and of the write-back if it is updated.
IdVector<ValueId, Joules> savings(const Instance& all_paged, const Dataflow& flow) {
  const CostTable& costs = all_paged.costs;
  const auto price = [&](const TransferCost& transfer) {
    return transfer.energy + (costs.timing.concurrent ? Joules(0) : costs.timing.idle * transfer.seconds);
  };
  IdVector<ValueId, Joules> saved(all_paged.graph.values.size());
  for (const ValueId v : flow.paged) saved[v] = price(costs.values[v].page_in);
  for (const std::vector<ValueId>& changes : flow.changes)
    for (const ValueId v : changes) saved[v] += price(costs.values[v].page_out);
  return saved;
}

}  // namespace

bool has_homes(const Instance& instance) {
  return !instance.costs.storage_capacity || *instance.costs.storage_capacity >= Bytes(0);
}

std::vector<PagedSet> paged_sets(const Instance& instance, const Limits& limits, const Regime& regime) {
  const Bytes ram_budget = limits.ram_budget;
  std::vector<PagedSet> sets;
  if (floor_of(with_paged(instance, {})) <= ram_budget) sets.emplace_back();
  const std::vector<ValueId> all = pageable(instance);
  const Bytes room = ram_budget - floor_of(with_paged(instance, all));
  if (all.empty() || room < Bytes(0)) return sets;
  std::vector<ValueId> smallest_first = all;
  std::sort(smallest_first.begin(), smallest_first.end(), [&](ValueId a, ValueId b) {
    return std::make_tuple(instance.costs.values[a].bytes, a) <
           std::make_tuple(instance.costs.values[b].bytes, b);
  });
  if (regime.tries_many_sets)
    for (PagedSet& few : sets_to_fit(instance, ram_budget, room)) {
      const Instance with = with_paged(instance, few);
      if (has_homes(with) && floor_of(with) <= ram_budget) sets.push_back(std::move(few));
    }
  const bool hurries = limits.max_bytes_written || limits.deadline;
  const double most = hurries ? 1 : regime.tries_many_sets ? kMostToStay : kMostOfFew;
  for (const double part : kFractions) {
    if (part > most) continue;
    Bytes left(static_cast<std::int64_t>(part * static_cast<double>(room.value())));
    std::vector<ValueId> paged;
    for (const ValueId v : smallest_first) {
      const Bytes bytes = instance.costs.values[v].bytes;
      if (bytes <= left)
        left -= bytes;
      else
        paged.push_back(v);
    }
    std::sort(paged.begin(), paged.end());
    if (paged.empty() || std::find(sets.begin(), sets.end(), paged) != sets.end()) continue;
    const Instance with = with_paged(instance, paged);
    if (!has_homes(with) || (paged != all && floor_of(with) > ram_budget)) continue;
    sets.push_back(std::move(paged));
  }
  return sets;
}

Bytes rounding_of(const Instance& instance, const std::vector<ValueId>& values) {
  Bytes sum;
  for (const ValueId v : values) {
    const Bytes bytes = instance.graph.values[v].bytes;
    sum += rounded_up(bytes, instance.costs.alignment) - bytes;
  }
  return sum;
}

std::vector<Resident> residents_of(const Instance& all_paged, const WithLoads& loads) {
  const Dataflow flow = dataflow(all_paged.graph);
  const IdVector<ValueId, Joules> saved = savings(all_paged, flow);
  std::vector<Resident> residents;
  for (const OpId op : ids<OpId>(loads.loads.size())) {
    const ValueId v = loads.loads[op];
    if (!v.valid() || all_paged.graph.values[v].rows) continue;
    const ValueId brought = loads.instance.graph.ops[op].outputs.front();
    residents.push_back({brought.index, saved[v].value(), all_paged.graph.values[v].bytes.value()});
  }
  return residents;
}

Bytes floor_of_every_choice(const Instance& instance) {
  const std::vector<ValueId> all = pageable(instance);
  Instance all_paged = with_paged(instance, all);
  for (const ValueId v : all) all_paged.costs.values[v].bytes = instance.graph.values[v].bytes;
  return floor_of(all_paged);
}

Bytes least_written_home(const Instance& instance, Bytes ram_budget) {
  const std::vector<ValueId> all = pageable(instance);
  const Instance all_paged = with_paged(instance, all);
  const Bytes largest = ram_floor(with_paged(instance, {}), Semantics::device).largest.bytes();
  Bytes rows, others;
  for (const std::vector<ValueId>& changes : dataflow(all_paged.graph).changes)
    for (const ValueId v : changes)
      (instance.graph.values[v].rows ? rows : others) += instance.graph.values[v].bytes;
  return rows + std::max(Bytes(0), others - std::max(Bytes(0), ram_budget - largest));
}

Joules most_saved_by_residents(const Instance& instance, Bytes ram_budget) {
  const std::vector<ValueId> all = pageable(instance);
  const Instance all_paged = with_paged(instance, all);
  const IdVector<ValueId, Joules> saved = savings(all_paged, dataflow(all_paged.graph));
  std::vector<std::pair<double, ValueId>> per_byte;
  for (const ValueId v : all)
    per_byte.emplace_back(saved[v].value() / static_cast<double>(instance.graph.values[v].bytes.value()), v);
  std::sort(per_byte.rbegin(), per_byte.rend());
  const Bytes largest = ram_floor(with_paged(instance, {}), Semantics::device).largest.bytes();
  Bytes room = std::max(Bytes(0), ram_budget - largest);
  Joules sum{};
  for (const auto& [joules, v] : per_byte) {
    const Bytes taken = std::min(room, instance.graph.values[v].bytes);  // not rounded up
    sum += Joules(joules * static_cast<double>(taken.value()));
    room -= taken;
  }
  return sum;
}

}  // namespace poet
