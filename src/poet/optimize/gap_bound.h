#pragma once

// The bound without a constraint matrix, by gap packing. It is quick, and on large problems usually the only
// one.

#include <functional>

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/relaxation/gap_relaxation.h"

namespace poet {

class GapBound {
 public:
  /// `problem` must outlive this. O(gaps).
  explicit GapBound(const Problem& problem);
  GapBound(const GapBound&) = delete;
  GapBound& operator=(const GapBound&) = delete;

  /// Runs one round (GapRelaxation::improve()) towards `best_joules`, the energy of a plan, or infinity.
  /// Returns false, without a round, once several rounds in a row have not raised the bound, or if stopped.
  bool go_on(double best_joules, const std::function<bool()>& stop);
  /// Joules.
  [[nodiscard]] double bound() const;
  /// Of a round (optimize/effort.h).
  [[nodiscard]] double effort_of_round() const;

 private:
  const Problem& p_;
  const Gaps gaps_;
  GapRelaxation relaxation_;
  const double least_;  // the bound before the first round
  /// Part of the way to its target that a step aims at; reduced when steps lower the bound.
  double farther_ = 1;
  int rounds_ = 0;
  int idle_ = 0;  // rounds in a row
  bool ended_ = false;
};

}  // namespace poet
