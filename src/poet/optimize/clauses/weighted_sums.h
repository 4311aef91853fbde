#pragma once

// Sums of weights of true literals that must not exceed a bound. Why one does, or why a literal must be
// false, is found only when asked for.

#include "poet/optimize/clauses/assignment.h"

namespace poet {

class WeightedSums {
 public:
  explicit WeightedSums(Assignment& assigned) : assigned_(assigned) {}

  void add_variable() { uses_.resize(uses_.size() + 2); }
  /// Returns the sum's number. No variable is twice among the terms and `unless`, which may be none; terms of
  /// weight 0 are dropped.
  int add(std::vector<WeightedLiteral> terms, std::int64_t bound, Literal unless);

  /// Counts a literal that has become true, and sets what follows. Returns a sum that is broken, or none.
  [[nodiscard]] Reason count(Literal literal);
  /// Sets what follows from the sum as it is. Returns whether it holds.
  [[nodiscard]] bool propagate(int sum);
  void uncount(Literal literal);

  /// Appends true literals, negated, from which `implied` followed; with none: that break the sum.
  void explain(int sum, Literal implied, Clause& why);

  /// Terms visited so far.
  [[nodiscard]] std::int64_t effort() const { return effort_; }

 private:
  struct Sum {
    std::vector<WeightedLiteral> terms;  // by decreasing weight
    std::int64_t bound = 0;
    std::int64_t counted = 0;
    Literal unless;
  };
  struct Use {
    int sum = -1;
    std::int64_t weight = 0;
  };

  Assignment& assigned_;
  std::vector<Sum> sums_;
  std::vector<std::vector<Use>> uses_;  // per literal
  std::int64_t effort_ = 0;
};

}  // namespace poet
