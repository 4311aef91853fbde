#pragma once

// A bound on every plan of problems that only recompute: the least cost for which the clauses of the window
// relaxation, and those that its answers break, have an answer. By clause learning.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "poet/optimize/clauses/window_answer.h"
#include "poet/optimize/search/search.h"

namespace poet {

class ClauseBound {
 public:
  /// `search` must outlive this.
  explicit ClauseBound(Search& search);

  /// Goes on for at most so much effort (optimize/effort.h). Raises the bound, and offers answers that are
  /// plans. Returns false if there is nothing left to do, or where this is not for the problem: it pages
  /// something, or is too large.
  bool go_on(double effort);

 private:
  void build(std::vector<int> breakpoints);
  void try_next_limit();
  [[nodiscard]] Satisfiable solve_within(std::int64_t most);
  [[nodiscard]] Literal limit_of(std::int64_t most);
  void use_answer();
  [[nodiscard]] double joules_wanted() const;
  [[nodiscard]] std::int64_t cost_of(double joules) const;

  Search& search_;
  const Problem& p_;
  std::optional<StageWindows> windows_;
  std::optional<WindowClauses> model_;
  WindowAnswer answer_;                     // the last one
  std::int64_t proven_ = 0;                 // no plan costs less, but for rounding
  std::int64_t answered_;                   // an answer costs that
  std::int64_t step_ = 0;                   // to the next limit
  std::int64_t patience_;                   // effort of an attempt
  std::map<std::int64_t, Literal> limits_;  // on the cost, above what is proven
  bool ended_ = false;
};

}  // namespace poet
