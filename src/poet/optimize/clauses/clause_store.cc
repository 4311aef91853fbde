#include "poet/optimize/clauses/clause_store.h"

#include <algorithm>

#include "poet/base/numbers.h"

namespace poet {

int ClauseStore::add(const Clause& clause, int levels) {
  const int number = static_cast<int>(entries_.size());
  entries_.push_back({static_cast<std::uint32_t>(literals_.size()), static_cast<int>(clause.size()), levels});
  literals_.insert(literals_.end(), clause.begin(), clause.end());
  watch(number);
  return number;
}

std::span<Literal> ClauseStore::literals(int clause) {
  const Entry& entry = entries_[at(clause)];
  return {literals_.data() + entry.begin, at(entry.size)};
}

void ClauseStore::watch(int clause) {
  const std::span<Literal> own = literals(clause);
  watches_[own[0].index()].push_back({clause, own[1]});
  watches_[own[1].index()].push_back({clause, own[0]});
}

int ClauseStore::most_levels_to_keep() const {
  constexpr int kAlwaysKept = 2;
  std::vector<int> levels;
  for (const Entry& entry : entries_)
    if (entry.levels > kAlwaysKept) levels.push_back(entry.levels);
  if (levels.empty()) return kAlwaysKept;
  const auto middle = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 2);
  std::nth_element(levels.begin(), middle, levels.end());
  return std::max(kAlwaysKept, *middle - 1);
}

}  // namespace poet
