#pragma once

// Searches and bounds in rounds: the main part of the search on one problem.

#include <optional>
#include <set>

#include "poet/optimize/clauses/clause_bound.h"
#include "poet/optimize/heuristic/heuristics.h"
#include "poet/optimize/milp/branch.h"
#include "poet/optimize/milp/columns.h"
#include "poet/optimize/relaxation/window_search.h"
#include "poet/optimize/search/search.h"

namespace poet {

/// The MIP with every decision: large, and exact except for the timeline of device semantics.
class FullModel {
 public:
  explicit FullModel(Search& search);

  /// Returns whether the model is so small that it is solved outright.
  [[nodiscard]] bool is_small() const;
  /// Returns whether the tree is closed or infeasible.
  [[nodiscard]] bool is_exhausted() const { return finished_; }
  /// Continues branch and cut. Returns false if the model is too large or exhausted.
  bool go_on(long work, std::set<int>& exact_stages);

 private:
  Search& search_;
  long size_ = 0;    // columns, estimated
  Columns columns_;  // empty if there are too many
  std::optional<Root> root_;
  bool finished_ = false;
};

/// Each round runs every method with twice the effort of the round before, as methods stall on different
/// problems and help each other. Once the best staged schedule is proven, only the bound on every plan, by
/// windows, and synchronous plans can improve.
class Rounds {
 public:
  /// Both must outlive this.
  Rounds(Search& search, Heuristics& heuristics);
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  /// Runs a round. Returns false, without one, once the search is done or rounds bring no improvement.
  bool go_on();
  [[nodiscard]] int count() const { return round_; }

 private:
  bool one_round();
  void learn_clauses(int doublings);

  Search& search_;
  Heuristics& heuristics_;
  WindowSearch windows_;
  ClauseBound clauses_;
  FullModel full_;
  std::set<int> exact_stages_;
  int round_ = 0;
  int fruitless_ = 0;
  bool ended_ = false;
};

}  // namespace poet
