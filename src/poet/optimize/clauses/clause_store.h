#pragma once

// Clauses of at least two literals, and which of them watch a literal: a clause is looked at only when one of
// its first two literals becomes false.

#include <cstdint>
#include <span>
#include <vector>

#include "poet/optimize/clauses/literal.h"

namespace poet {

/// `other` is a literal of the clause: where it is true, the clause need not be looked at.
struct Watch {
  int clause = -1;
  Literal other;
};

class ClauseStore {
 public:
  void add_variable() { watches_.resize(watches_.size() + 2); }

  /// Returns the clause's number. `levels`: of how many decision levels the literals of a learned clause
  /// were, which says how useful it is (Audemard and Simon, IJCAI 2009); 0: not learned.
  int add(const Clause& clause, int levels);
  [[nodiscard]] std::span<Literal> literals(int clause);
  [[nodiscard]] std::vector<Watch>& watches(Literal literal) { return watches_[literal.index()]; }

  /// Drops the clauses for which `satisfied` says so and, of the learned ones of more than two levels, those
  /// of the median number of levels or more. Numbers change. O(literals).
  template <class IsSatisfied>
  void forget(const IsSatisfied& satisfied);

 private:
  struct Entry {
    std::uint32_t begin = 0;
    int size = 0;
    int levels = 0;
  };
  [[nodiscard]] int most_levels_to_keep() const;
  void watch(int clause);

  std::vector<Entry> entries_;
  std::vector<Literal> literals_;  // of all clauses
  std::vector<std::vector<Watch>> watches_;
};

template <class IsSatisfied>
void ClauseStore::forget(const IsSatisfied& satisfied) {
  const int most = most_levels_to_keep();
  std::vector<Entry> kept;
  std::vector<Literal> literals;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const std::span<Literal> own = this->literals(static_cast<int>(i));
    if (entry.levels > most || satisfied(own)) continue;
    kept.push_back({static_cast<std::uint32_t>(literals.size()), entry.size, entry.levels});
    literals.insert(literals.end(), own.begin(), own.end());
  }
  entries_ = std::move(kept);
  literals_ = std::move(literals);
  for (auto& list : watches_) list.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) watch(static_cast<int>(i));
}

}  // namespace poet
