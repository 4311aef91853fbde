#include "poet/optimize/problem/residence.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "poet/plan/allowance.h"

namespace poet {
namespace {

// Of the RAM beside the largest op.
constexpr std::array kParts = {0.75, 0.5, 0.25, 0.1, 0.0};

Bytes floor_of(const Instance& instance) { return ram_floor(instance, Semantics::device).bytes(); }

}  // namespace

std::vector<std::vector<ValueId>> paged_sets(const Instance& instance, Bytes ram_budget) {
  std::vector<std::vector<ValueId>> sets;
  if (floor_of(with_paged(instance, {})) <= ram_budget) sets.emplace_back();
  const std::vector<ValueId> all = pageable(instance);
  const Bytes room = ram_budget - floor_of(with_paged(instance, all));
  if (all.empty() || room < Bytes(0)) return sets;
  std::vector<ValueId> smallest_first = all;
  std::sort(smallest_first.begin(), smallest_first.end(), [&](ValueId a, ValueId b) {
    return std::make_tuple(instance.costs.values[a].bytes, a) <
           std::make_tuple(instance.costs.values[b].bytes, b);
  });
  for (const double part : kParts) {
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
    if (paged.empty() || (!sets.empty() && sets.back() == paged)) continue;
    sets.push_back(std::move(paged));
  }
  return sets;
}

}  // namespace poet
