#pragma once

// Satisfiability of clauses and weighted sums by conflict-driven clause learning (Marques-Silva and Sakallah,
// 1999; Een and Sorensson, SAT 2003), with sums explained lazily (Ohrimenko, Stuckey and Codish, 2009).

#include <functional>

#include "poet/base/stop.h"
#include "poet/optimize/clauses/assignment.h"
#include "poet/optimize/clauses/clause_store.h"
#include "poet/optimize/clauses/decision_order.h"
#include "poet/optimize/clauses/weighted_sums.h"

namespace poet {

enum class Satisfiable { yes, no, gave_up };

class ClauseSolver {
 public:
  ClauseSolver() = default;
  ClauseSolver(const ClauseSolver&) = delete;  // sums_ refers to assigned_
  ClauseSolver& operator=(const ClauseSolver&) = delete;

  /// A decision tries `first_value` first, and decides `weight` variables of greater weight first, until
  /// conflicts say otherwise.
  int add_variable(bool first_value, double weight);
  /// Before or between solves. O(literals).
  void add_clause(Clause clause);
  /// sum of weights of true literals <= bound, unless `unless` is true. Weights >= 0, no variable twice.
  void add_at_most(std::vector<WeightedLiteral> terms, std::int64_t bound, Literal unless = {});

  /// Returns clauses that the model lacks and the complete assignment breaks; none: it is accepted.
  using Check = std::function<std::vector<Clause>()>;

  /// Searches for an assignment in which `assumption` is true, for at most so much effort: literals visited,
  /// of which there are some 1e8 in a second. What is learned stays for the next solve. 'No' is a proof.
  [[nodiscard]] Satisfiable solve(Literal assumption, std::int64_t effort, const Stop& stop,
                                  const Check& check);

  /// Of the accepted assignment, until something is added.
  [[nodiscard]] bool is_true(Literal literal) const { return assigned_.is_true(literal); }
  [[nodiscard]] std::int64_t effort() const { return effort_ + sums_.effort(); }
  [[nodiscard]] std::int64_t conflicts() const { return conflicts_; }

 private:
  [[nodiscard]] Reason propagate();
  [[nodiscard]] Reason propagate_clauses(Literal falsified);
  void learn_from(Reason conflict);
  void collect(Reason reason, Literal implied);
  [[nodiscard]] bool is_implied(Literal literal);
  void backtrack(int level);
  [[nodiscard]] bool decide(Literal assumption);
  void forget();

  Assignment assigned_;
  ClauseStore clauses_;
  WeightedSums sums_{assigned_};
  DecisionOrder order_;
  std::vector<char> first_value_;  // per variable: the last one, later
  std::vector<char> seen_;         // per variable
  Clause antecedents_;
  std::int64_t effort_ = 0;
  std::int64_t conflicts_ = 0;
  std::int64_t next_forget_ = 4'000;
  bool contradiction_ = false;
};

}  // namespace poet
