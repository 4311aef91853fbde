#pragma once

// The breakpoints of window relaxations: where the next one belongs. Each question is asked of the answer of
// a relaxation, of a schedule, or of prices; the first stage that it names becomes a breakpoint
// (docs/bounds.md).

#include <cstdint>
#include <utility>
#include <vector>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// The questions add breakpoints, and say whether they have; none where everything could be kept, as that
/// would say nothing. `problem` and `gaps` must outlive it.
class Breakpoints {
 public:
  /// One, where keeping everything takes most RAM.
  Breakpoints(const Problem& problem, const Gaps& gaps);

  [[nodiscard]] const std::vector<int>& stages() const { return stages_; }
  void reset(std::vector<int> stages) { stages_ = std::move(stages); }

  /// Where what point x of the model keeps across gaps alone overflows.
  bool add_where_implied(const StageWindows& windows, const WindowModel& model, const std::vector<double>& x,
                         int at_most);
  /// Where the decisions of a point in integers overflow, however they are carried out, or an op would be
  /// recomputed twice in a window: one breakpoint.
  bool add_where_answer_fails(const StageWindows& windows, const WindowModel& model,
                              const std::vector<double>& x);
  /// Where the decisions overflow however they are shifted; not near other breakpoints.
  bool add_where_pressed(const StageWindows& windows, const WindowDecisions& decided, int at_most);
  /// Where a byte costs most, per stage; not near other breakpoints.
  bool add_where_dearest(const std::vector<double>& prices, int at_most);
  /// Device semantics: what the relaxation takes to happen beside compute, and what in this schedule does
  /// not. The last stage before the longest wait that is no breakpoint yet: RAM that is full there, or
  /// transfers that end there, are what it had to wait for.
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
