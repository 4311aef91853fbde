#pragma once

// The window relaxation: RAM counts at a few ops only, the breakpoints, and between two of them (in a window)
// an op is recomputed at most once, in any order. Small enough to be solved to the end in a second, and
// stronger than the linear relaxation of the full model, in which a recomputation spread thinly over many
// stages needs next to nothing of its operands at any one of them.

#include <vector>

#include "poet/optimize/milp/model.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

/// Window k holds the stages after breakpoint k - 1 up to and including breakpoint k; the last one ends with
/// the last stage.
class StageWindows {
 public:
  /// Breakpoints: distinct ops, at least one.
  StageWindows(const Problem& problem, std::vector<int> breakpoints);

  [[nodiscard]] int count() const { return static_cast<int>(breakpoints_.size()) + 1; }
  [[nodiscard]] const std::vector<int>& breakpoints() const { return breakpoints_; }
  [[nodiscard]] int of(int stage) const { return of_[static_cast<std::size_t>(stage)]; }
  [[nodiscard]] int first_stage(int window) const {
    return window == 0 ? 0 : breakpoints_[static_cast<std::size_t>(window) - 1] + 1;
  }
  [[nodiscard]] int last_stage(int window) const {
    return window + 1 < count() ? breakpoints_[static_cast<std::size_t>(window)] : stages_ - 1;
  }

 private:
  std::vector<int> breakpoints_;
  std::vector<int> of_;
  int stages_;
};

/// Columns by window and op or value; -1 where there is none.
struct WindowModel {
  Model model;  // objective: (energy - baseline) * scale, or budget / ram_unit
  double scale = 1;
  double ram_unit = 1;  // bytes
  /// In RAM while the breakpoint op that ends the window runs, to be kept across it or on its way to storage
  /// (an operand that dies with the op is not kept).
  std::vector<std::vector<int>> kept;
  std::vector<std::vector<int>> recompute;  // at least once in the window
  /// At least once in a stage of the window; in published semantics, where a page-in takes no RAM in its own
  /// stage, at least once in the stage before one of the window's.
  std::vector<std::vector<int>> page_in;
  std::vector<int> stored;    // by value: paged out at all
  int wakes = -1;             // the channel is woken up at all; device semantics
  std::vector<int> resident;  // by Problem::residents: never leaves RAM, from step to step
};

/// What a window relaxation minimises.
enum class WindowObjective {
  energy,  // above the baseline
  ram,     // the budget, which is then a column
};

/// Every plan that first computes the ops in their order gives a point of the model with no more than its
/// energy, staged or not (docs/bounds.md):
///   kept[k,v] <= kept[k-1,v] + recompute[k,p(v)] + page_in[k,v]       unless v is made in window k
///   1         <= the same sum                                        where an op of window k reads v
///   recompute[k,i] <= the same sum of each operand of i               unless it is made in window k
///   stored[v] <= wakes, where waking the channel up costs something
///   sum of kept * bytes at breakpoint op t <= budget - working set of t, and, where t may write its result
///   over operands, one operand less if all of these are kept
/// where a resident value takes RAM from the first op to the last and saves its transfers, and the provenance
/// of kept copies, limits and, in device semantics, the channel's timeline
/// (window_limits.h), as in docs/bounds.md. O(windows * (values + edges)) columns and
/// entries.
[[nodiscard]] WindowModel build_windows(const Problem& problem, const StageWindows& windows, bool rounding,
                                        WindowObjective objective = WindowObjective::energy);

}  // namespace poet
