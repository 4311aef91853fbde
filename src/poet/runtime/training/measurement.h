#pragma once

#include "poet/runtime/training/measured.h"

namespace poet::runtime {

/// Collects what steps take. Allocates nothing in the first million of them.
class Measurement {
 public:
  /// `plan_steps`: of the plan; `steps`: how many training steps are expected.
  Measurement(std::size_t plan_steps, std::int64_t steps);

  /// A step, and the seconds of each of the plan's steps in it.
  void add(const StepFigures& step, const std::vector<double>& seconds);

  /// `totals`: of all steps together. Leaves `high_water` to the caller. Once only.
  [[nodiscard]] Measured close(const TransferTotals& totals);

 private:
  std::vector<double> makespans_;
  std::vector<double> seconds_;
  std::vector<double> stalled_;
  std::vector<double> fetching_;
  std::int64_t steps_ = 0;  // all of them, the first included
};

}  // namespace poet::runtime
