#pragma once

// When the steps of a plan happen on a device: the planner's own reading of the rules. The figures that
// people see are the verifier's.

#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"

namespace poet {

struct Timeline {
  // Seconds from the beginning of the training step. A compute step lasts while the op runs, a transfer while
  // the channel moves it, waking up included, and a wait while compute waits. A free begins and ends when the
  // memory is given back.
  std::vector<double> begin;
  std::vector<double> end;
  std::vector<Bytes> ram;  // transient bytes while the step runs, or after it if it is no compute step
  Bytes peak{};            // the most of these
  double makespan = 0;
  double stalled = 0;
  int wakes = 0;  // bursts of the channel
};

/// Returns when the steps happen. `plan` must be valid but for budget, deadline and waits; waits that it
/// lacks are made where with_waits() (plan/canonical.h) puts them. Device semantics. O(steps + edges).
[[nodiscard]] Timeline timeline_of(const Instance& instance, const Plan& plan);

/// Returns the energy that the plan draws in all: computations, transfers, waking up, idle power over the
/// makespan. `timeline` is the plan's. O(steps).
[[nodiscard]] Joules energy_of(const Instance& instance, const Plan& plan, const Timeline& timeline);

}  // namespace poet
