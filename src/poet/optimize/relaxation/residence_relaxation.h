#pragma once

// Relaxes the choice of resident values: the window relaxation of the problem in which every persistent value
// is loaded, with a column per value for residence instead.

#include <vector>

#include "poet/base/stop.h"
#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// Covers every choice that pages something; paging nothing is a separate problem.
class ResidenceRelaxation {
 public:
  /// `problem` is that of an instance with loads, has residents, and neither a deadline nor a write limit.
  /// Both must outlive this.
  ResidenceRelaxation(const Problem& problem, const SolveOptions& options);
  ResidenceRelaxation(const ResidenceRelaxation&) = delete;
  ResidenceRelaxation& operator=(const ResidenceRelaxation&) = delete;

  /// Solves a relaxation, and adds breakpoints where its solution overflows. Returns false, without one, if
  /// the bound is within the gap of `best_joules`, it rises no further, there is nothing to add, or `stop`.
  bool go_on(double best_joules, const Stop& stop);

  /// Joules; of every plan that pages at least one value. At least the energy of computing every op once with
  /// everything resident.
  [[nodiscard]] double bound() const { return bound_; }
  /// By Problem::residents, in the last relaxation's best solution; may be empty.
  [[nodiscard]] const std::vector<char>& resident() const { return resident_; }
  /// Of all steps (optimize/effort.h).
  [[nodiscard]] double effort() const { return effort_; }

 private:
  void raise_bound(const WindowModel& model, double objective);
  bool relax_continuously(const StageWindows& windows, const WindowModel& model, const Stop& stop);
  struct Relaxed {
    bool closed = false;  // solved to its optimum
    std::vector<double> x;
  };
  Relaxed relax(const WindowModel& model, const Stop& stop);
  bool add_overflowing(const std::vector<double>& ram, int at_most);

  const Problem& p_;
  const SolveOptions& options_;
  const Gaps gaps_;
  double least_ = 0;  // energy of every op once, with everything resident
  double bound_ = 0;
  std::vector<int> breakpoints_;
  std::vector<char> resident_;
  long iterations_ = 0;  // of the next relaxation, at most
  int idle_ = 0;         // rounds in a row
  double effort_ = 0;
  bool ended_ = false;
};

}  // namespace poet
