#pragma once

// Window relaxations with an increasing number of breakpoints: each raises the bound, guides the search for
// schedules, and yields the next breakpoint.

#include <set>
#include <vector>

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/breakpoints.h"
#include "poet/optimize/relaxation/window_decisions.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {

class WindowSearch {
 public:
  explicit WindowSearch(Search& search);

  /// Continues until the search is done, a relaxation takes more than `work` simplex iterations (eight times
  /// as many if it is nearly solved), or several breakpoints in a row have not raised the bound. Offers
  /// schedules found on the way. Adds stages that newly needed exact rows to `exact_stages`. Returns false if
  /// no breakpoint is left to add.
  bool run(long work, std::set<int>& exact_stages);

  /// Only raises the bound, by linear relaxations of the first breakpoints and those that these imply, until
  /// the search is done or a relaxation takes more than `work` simplex iterations.
  void relax_at_first(long work);

 private:
  struct Relaxed {
    bool closed = false;  // solved to its optimum, or infeasible
    std::vector<double> x;
  };

  enum class Ended { nothing_left, out_of_work, idle };

  Ended run_to_the_end(long work, std::set<int>& exact_stages);
  void relax_further(long work);
  [[nodiscard]] bool has_risen(double before, double part) const;
  bool add_where_answer_fails(const StageWindows& windows, const WindowModel& model,
                              const std::vector<double>& x);
  bool add_where_relaxation_fails(const StageWindows& windows, const WindowModel& model);
  bool relax_continuously(const StageWindows& windows, WindowModel& model, long work);
  Relaxed relax_with_ram(const StageWindows& windows, WindowModel& model, long work);
  Relaxed relax(const WindowModel& model, long work);
  void raise_bound(const WindowModel& model, double objective);
  void look_for_schedules(const StageWindows& windows, const WindowDecisions& decided, long work,
                          std::set<int>& exact_stages);

  Search& search_;
  const Problem& p_;
  const Gaps gaps_;
  Breakpoints breakpoints_;
  LpResult relaxation_;                // the last linear one
  std::vector<double> prices_of_ram_;  // per stage; empty: not known
  Decisions found_;                    // what the relaxations have decided so far
};

}  // namespace poet
