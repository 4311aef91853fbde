#include "poet/plan/paged_to_fit.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <set>
#include <utility>

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

class Fitting {
 public:
  Fitting(const Instance& instance, const std::vector<ValueId>& all)
      : instance_(instance),
        all_paged_(with_paged(instance, all)),
        flow_(dataflow(all_paged_.graph)),
        needs_(needs_of(with_paged(instance, {}))) {
    for (const ValueId v : all) resident_.emplace(bytes_of(v), v);
    for (const OpId op : ids<OpId>(needs_.size())) most_.emplace(needs_[op], op);
  }

  std::optional<std::vector<ValueId>> run(Bytes ram) {
    std::vector<ValueId> paged;
    while (!most_.empty() && most_.top().first - freed_ > ram) {
      const auto [need, op] = most_.top();
      if (need < needs_[op]) {  // since it was noted
        most_.pop();
        continue;
      }
      const auto chosen = value_for(op, need - freed_ - ram);
      if (chosen == resident_.end()) return std::nullopt;
      page(chosen->second);
      paged.push_back(chosen->second);
      resident_.erase(chosen);
    }
    std::sort(paged.begin(), paged.end());
    return paged;
  }

 private:
  using BySize = std::set<std::pair<Bytes, ValueId>>;

  [[nodiscard]] Bytes bytes_of(ValueId v) const { return instance_.graph.values[v].bytes; }
  [[nodiscard]] bool is_used(ValueId v, OpId op) const {
    return std::binary_search(flow_.users[v].begin(), flow_.users[v].end(), op);
  }

  /// What makes up for at least half of what is lacking and not for more, the largest of that; else the
  /// smallest that makes up for it; else the largest.
  [[nodiscard]] BySize::const_iterator value_for(OpId op, Bytes lacking) const {
    auto above = resident_.lower_bound({lacking, ValueId(0)});
    auto below = std::make_reverse_iterator(above);
    while (above != resident_.end() && is_used(above->second, op)) ++above;
    while (below != resident_.rend() && is_used(below->second, op)) ++below;
    const bool has_below = below != resident_.rend();
    const bool prefers_below = has_below && (above == resident_.end() || below->first * 2 >= lacking);
    return prefers_below ? std::prev(below.base()) : above;
  }

  /// Every op needs less, but for those that use it.
  void page(ValueId v) {
    freed_ += bytes_of(v);
    for (const OpId user : flow_.users[v]) {
      needs_[user] += all_paged_.costs.values[v].bytes;
      most_.emplace(needs_[user], user);
    }
  }

  const Instance& instance_;
  const Instance all_paged_;
  const Dataflow flow_;
  IdVector<OpId, Bytes> needs_;  // and what is freed
  Bytes freed_{};
  BySize resident_;
  std::priority_queue<std::pair<Bytes, OpId>> most_;
};

}  // namespace

std::optional<std::vector<ValueId>> paged_to_fit(const Instance& instance, Bytes ram) {
  return Fitting(instance, pageable(instance)).run(ram);
}

std::vector<std::vector<ValueId>> sets_to_fit(const Instance& instance, Bytes ram, Bytes room) {
  const Fitting nothing_paged(instance, pageable(instance));
  std::vector<std::vector<ValueId>> sets;
  for (const int part : {16, 8, 4, 2, 1, 0}) {  // of 32
    std::optional<std::vector<ValueId>> paged =
        Fitting(nothing_paged).run(ram - Bytes(room.value() / 32 * part));
    if (!paged || paged->empty() || std::ranges::find(sets, *paged) != sets.end()) continue;
    sets.push_back(std::move(*paged));
  }
  return sets;
}

}  // namespace poet
