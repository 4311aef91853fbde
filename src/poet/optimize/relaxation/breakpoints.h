#pragma once

// Chooses the breakpoints of window relaxations, by the solution of a relaxation, a schedule, or prices
// (docs/bounds.md).

#include <cstdint>
#include <utility>
#include <vector>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/window_decisions.h"

namespace poet {

/// Returns the stages that become breakpoints next, of those in which `ram` (per stage) exceeds the budget:
/// the fullest, at most so many, none a breakpoint already and none beside another.
[[nodiscard]] std::vector<int> overflowing(const Problem& problem, const std::vector<double>& ram,
                                           const std::vector<int>& breakpoints, int at_most);

/// Each add_...() returns whether it added breakpoints. They add none where everything could be kept, as such
/// a breakpoint is redundant. `problem` and `gaps` must outlive this.
class Breakpoints {
 public:
  /// Begins with one breakpoint, at the peak of keep-all.
  Breakpoints(const Problem& problem, const Gaps& gaps);

  [[nodiscard]] const std::vector<int>& stages() const { return stages_; }
  void reset(std::vector<int> stages) { stages_ = std::move(stages); }

  /// Adds stages in which the values that point x of the model keeps across gaps overflow by themselves.
  bool add_where_implied(const StageWindows& windows, const WindowModel& model, const std::vector<double>& x,
                         int at_most);
  /// Adds one breakpoint where the decisions of an integer point overflow in every realization, or where an
  /// op would be recomputed twice in a window.
  bool add_where_answer_fails(const StageWindows& windows, const WindowModel& model,
                              const std::vector<double>& x);
  /// Adds stages in which the decisions overflow however they are shifted (window_pressure.h); not near other
  /// breakpoints.
  bool add_where_pressed(const StageWindows& windows, const WindowDecisions& decided, int at_most);
  /// Adds the stages of the highest prices per byte; not near other breakpoints.
  bool add_where_costliest(const std::vector<double>& prices, int at_most);
  /// Device semantics: adds the last stage before the longest stall of the schedule that is not a breakpoint
  /// yet. The relaxation overlaps these transfers with compute; the schedule stalls because RAM is full there
  /// or transfers end there.
  bool add_where_compute_waits(const Decisions& schedule);

 private:
  [[nodiscard]] bool contain(int stage) const;
  bool add_overflowing(std::vector<double> ram, int at_most);
  bool add_where_recomputed_twice(const StageWindows& windows, const Candidate& spread);
  [[nodiscard]] std::vector<double> pressed(const StageWindows& windows,
                                            const WindowDecisions& decided) const;
  void keep_apart(std::vector<double>& ram) const;

  const Problem& p_;
  const Gaps& gaps_;
  std::vector<int> stages_;
  std::vector<std::int64_t> most_kept_;  // per stage, bytes
};

}  // namespace poet
