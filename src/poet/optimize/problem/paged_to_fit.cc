#include "poet/optimize/problem/paged_to_fit.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "poet/graph/dataflow.h"
#include "poet/plan/allowance.h"
#include "poet/plan/overwritable.h"

namespace poet {
namespace {

/// RAM that each op needs with everything resident.
IdVector<OpId, Bytes> needs_of(const Instance& resident) {
  const Dataflow flow = dataflow(resident.graph);
  const IdVector<OpId, std::vector<ValueId>> overwritable = overwritable_operands(resident);
  IdVector<OpId, Bytes> needs(resident.graph.ops.size(), resident.costs.persistent);
  for (const OpId op : ids<OpId>(needs.size()))
    needs[op] += working_set(resident.costs, flow, op, overwritable[op], Semantics::device).bytes();
  return needs;
}

}  // namespace

std::optional<std::vector<ValueId>> paged_to_fit(const Instance& instance, Bytes ram) {
  const std::vector<ValueId> all = pageable(instance);
  IdVector<OpId, Bytes> needs = needs_of(with_paged(instance, {}));
  const Instance all_paged = with_paged(instance, all);
  const Dataflow flow = dataflow(all_paged.graph);
  std::vector<ValueId> resident = all;  // the smallest first
  std::sort(resident.begin(), resident.end(), [&](ValueId a, ValueId b) {
    const auto& costs = instance.costs.values;
    return std::tie(costs[a].bytes, a) < std::tie(costs[b].bytes, b);
  });
  std::vector<ValueId> paged;
  for (;;) {
    const auto most = std::max_element(needs.begin(), needs.end());
    if (most == needs.end() || *most <= ram) break;
    const OpId op(static_cast<std::size_t>(most - needs.begin()));
    const Bytes lacking = *most - ram;
    auto chosen = resident.end();
    for (auto v = resident.begin(); v != resident.end(); ++v) {
      const std::vector<OpId>& users = flow.users[*v];
      if (std::binary_search(users.begin(), users.end(), op)) continue;
      const bool makes_up = instance.graph.values[*v].bytes >= lacking;
      const bool nearly = chosen != resident.end() && instance.graph.values[*chosen].bytes * 2 >= lacking;
      if (!makes_up || !nearly) chosen = v;
      if (makes_up) break;
    }
    if (chosen == resident.end()) return std::nullopt;
    for (Bytes& need : needs) need -= instance.graph.values[*chosen].bytes;
    for (const OpId user : flow.users[*chosen]) needs[user] += all_paged.costs.values[*chosen].bytes;
    paged.push_back(*chosen);
    resident.erase(chosen);
  }
  std::sort(paged.begin(), paged.end());
  return paged;
}

}  // namespace poet
