// What a conflict teaches: the part of ClauseSolver that turns it into a clause.

#include <algorithm>

#include "poet/optimize/clauses/clause_solver.h"

namespace poet {

// Sets antecedents_ to the false literals from which `implied` followed; with none: that break the reason.
void ClauseSolver::collect(Reason reason, Literal implied) {
  antecedents_.clear();
  if (reason.sum >= 0) {
    sums_.explain(reason.sum, implied, antecedents_);
    return;
  }
  for (const Literal literal : clauses_.literals(reason.clause))
    if (!(implied.exists() && literal == implied)) antecedents_.push_back(literal);
  effort_ += static_cast<std::int64_t>(antecedents_.size());
}

// Whether a literal of a learned clause follows from the others.
bool ClauseSolver::is_implied(Literal literal) {
  const Reason reason = assigned_.reason_of(literal);
  if (!reason.exists()) return false;
  collect(reason, ~literal);
  return std::ranges::all_of(antecedents_, [&](Literal other) {
    return seen_[at(other.variable())] != 0 || assigned_.level_of(other) == 0;
  });
}

// Learns the clause of the first unique implication point, backtracks to where it has one open literal, and
// sets that.
void ClauseSolver::learn_from(Reason conflict) {
  Clause learned{Literal{}};
  std::vector<int> marked;
  int open = 0;  // literals of this level still to be replaced
  std::size_t position = assigned_.trail().size();
  Literal pivot;
  for (Reason reason = conflict;;) {
    collect(reason, pivot);
    for (const Literal literal : antecedents_) {
      const int variable = literal.variable();
      if (seen_[at(variable)] != 0 || assigned_.level_of(literal) == 0) continue;
      seen_[at(variable)] = 1;
      marked.push_back(variable);
      order_.bump(variable);
      if (assigned_.level_of(literal) == assigned_.level())
        ++open;
      else
        learned.push_back(literal);
    }
    do --position;
    while (seen_[at(assigned_.trail()[position].variable())] == 0);
    pivot = assigned_.trail()[position];
    if (--open == 0) break;
    reason = assigned_.reason_of(pivot);
  }
  learned.front() = ~pivot;
  const auto tail = std::remove_if(learned.begin() + 1, learned.end(),
                                   [this](Literal literal) { return is_implied(literal); });
  learned.erase(tail, learned.end());
  for (const int variable : marked) seen_[at(variable)] = 0;
  order_.decay();
  std::vector<int> levels;
  for (const Literal literal : learned) levels.push_back(assigned_.level_of(literal));
  int back = 0;
  if (learned.size() > 1) {
    const auto highest = std::ranges::max_element(levels.begin() + 1, levels.end());
    back = *highest;
    std::swap(learned[1], learned[static_cast<std::size_t>(highest - levels.begin())]);
  }
  std::ranges::sort(levels);
  const auto distinct = std::unique(levels.begin(), levels.end()) - levels.begin();
  backtrack(back);
  Reason reason;
  if (learned.size() > 1) reason.clause = clauses_.add(learned, static_cast<int>(distinct));
  assigned_.set(learned.front(), reason);
}

}  // namespace poet
