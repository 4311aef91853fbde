#include "poet/optimize/clauses/clause_solver.h"

#include <algorithm>
#include <utility>

namespace poet {
namespace {

/// The Luby sequence 1, 1, 2, 1, 1, 2, 4, ..., from i = 0.
std::int64_t luby(std::int64_t i) {
  std::int64_t size = 1;
  while (size < i + 1) size = 2 * size + 1;
  while (size - 1 != i) {
    size = (size - 1) / 2;
    i %= size;
  }
  return (size + 1) / 2;
}

}  // namespace

int ClauseSolver::add_variable(bool first_value, double weight) {
  const int variable = assigned_.add_variable();
  clauses_.add_variable();
  sums_.add_variable();
  order_.add_variable(weight);
  first_value_.push_back(first_value ? 1 : 0);
  seen_.push_back(0);
  return variable;
}

void ClauseSolver::add_clause(Clause clause) {
  backtrack(0);
  std::ranges::sort(clause, {}, &Literal::code);
  clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  std::erase_if(clause, [&](Literal literal) { return assigned_.is_false(literal); });
  if (std::ranges::any_of(clause, [&](Literal literal) { return assigned_.is_true(literal); })) return;
  if (clause.empty()) contradiction_ = true;
  if (clause.size() == 1) assigned_.set(clause.front(), {});
  if (clause.size() > 1) clauses_.add(clause, 0);
}

void ClauseSolver::add_at_most(std::vector<WeightedLiteral> terms, std::int64_t bound, Literal unless) {
  backtrack(0);
  const int sum = sums_.add(std::move(terms), bound, unless);
  if (!sums_.propagate(sum)) contradiction_ = true;
}

Satisfiable ClauseSolver::solve(Literal assumption, std::int64_t most_effort, const Stop& stop,
                                const Check& check) {
  constexpr std::int64_t kRestart = 100;  // conflicts
  backtrack(0);
  const std::int64_t end = effort() + most_effort;
  std::int64_t restarts = 0, left = kRestart;
  while (!contradiction_) {
    if (const Reason conflict = propagate(); conflict.exists()) {
      ++conflicts_;
      --left;
      if (assigned_.level() == 0)
        contradiction_ = true;
      else
        learn_from(conflict);
      continue;
    }
    if (effort() > end || stop()) {
      backtrack(0);
      return Satisfiable::gave_up;
    }
    if (left <= 0) {
      left = kRestart * luby(++restarts);
      backtrack(0);
      if (conflicts_ >= next_forget_) forget();
      continue;
    }
    if (assigned_.is_false(assumption)) {
      backtrack(0);
      return Satisfiable::no;
    }
    if (decide(assumption)) continue;
    std::vector<Clause> lacking = check();
    if (lacking.empty()) return Satisfiable::yes;
    for (Clause& clause : lacking) add_clause(std::move(clause));
  }
  return Satisfiable::no;
}

// Returns false where nothing is open.
bool ClauseSolver::decide(Literal assumption) {
  Literal next;
  if (assigned_.is_open(assumption)) {
    next = assumption;
  } else {
    while (!order_.empty() && !next.exists()) {
      const int variable = order_.pop();
      const Literal literal = Literal::of(variable);
      if (assigned_.is_open(literal)) next = first_value_[at(variable)] != 0 ? literal : ~literal;
    }
  }
  if (!next.exists()) return false;
  assigned_.new_level();
  assigned_.set(next, {});
  return true;
}

Reason ClauseSolver::propagate() {
  while (assigned_.has_next()) {
    const Literal literal = assigned_.next();
    if (const Reason broken = sums_.count(literal); broken.exists()) return broken;
    if (const Reason broken = propagate_clauses(~literal); broken.exists()) return broken;
  }
  return {};
}

Reason ClauseSolver::propagate_clauses(Literal falsified) {
  std::vector<Watch>& watches = clauses_.watches(falsified);
  effort_ += static_cast<std::int64_t>(watches.size());
  std::size_t kept = 0;
  Reason broken;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const Watch watch = watches[i];
    if (broken.exists() || assigned_.is_true(watch.other)) {
      watches[kept++] = watch;
      continue;
    }
    const std::span<Literal> literals = clauses_.literals(watch.clause);
    if (literals[0] == falsified) std::swap(literals[0], literals[1]);
    const Literal first = literals[0];
    std::size_t other = 2;
    if (!assigned_.is_true(first))
      while (other < literals.size() && assigned_.is_false(literals[other])) ++other;
    effort_ += static_cast<std::int64_t>(other);
    if (!assigned_.is_true(first) && other < literals.size()) {
      std::swap(literals[1], literals[other]);
      clauses_.watches(literals[1]).push_back({watch.clause, first});
      continue;
    }
    watches[kept++] = {watch.clause, first};
    if (assigned_.is_false(first))
      broken.clause = watch.clause;
    else if (assigned_.is_open(first))
      assigned_.set(first, {watch.clause, -1});
  }
  watches.resize(kept);
  return broken;
}

void ClauseSolver::backtrack(int level) {
  if (assigned_.level() <= level) return;
  const std::size_t begin = assigned_.begin_of(level);
  while (assigned_.trail().size() > begin) {
    const std::size_t position = assigned_.trail().size() - 1;
    const Literal literal = assigned_.undo_last();
    if (position < assigned_.next_position()) sums_.uncount(literal);
    first_value_[at(literal.variable())] = literal.is_negated() ? 0 : 1;
    order_.insert(literal.variable());
  }
  assigned_.end_backtrack(level);
}

void ClauseSolver::forget() {
  constexpr std::int64_t kMore = 300;
  clauses_.forget([this](std::span<Literal> literals) {
    return std::ranges::any_of(literals, [this](Literal literal) { return assigned_.is_true(literal); });
  });
  next_forget_ = conflicts_ + 4'000 + kMore * (conflicts_ / 4'000);
}

}  // namespace poet
