#pragma once

// The time of a step by kind of operator.

#include <string>
#include <vector>

#include "poet/plan/file/plan_file.h"
#include "poet/runtime/training/measured.h"

namespace poet::runtime {

struct KindTime {
  std::string kind;
  int runs = 0;         // in one step
  int again = 0;        // of them, recomputations
  double planned = 0;   // seconds, all runs
  double measured = 0;  // seconds, all runs
};

/// Returns the times, slowest kind first. `measured` is of steps by this plan.
[[nodiscard]] std::vector<KindTime> times_by_kind(const PlanFile& file, const Measured& measured);

}  // namespace poet::runtime
