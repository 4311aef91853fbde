#pragma once

// The Pareto-optimal points of a sweep.

#include <span>
#include <vector>

#include "poet/study/sweep_result.h"

namespace poet {

/// Two figures to be minimised.
struct TradeOff {
  double x = 0;
  double y = 0;
};

/// Returns for each point whether no other dominates it: is at most as large in both figures and smaller in
/// one. O(n log n).
[[nodiscard]] std::vector<bool> non_dominated(std::span<const TradeOff> points);

/// The Pareto fronts that a point is on: energy against RAM and energy against time of its plan, among all
/// methods and among the points of its own method.
struct ParetoFlags {
  bool energy_ram = false;
  bool energy_time = false;
  bool energy_ram_of_method = false;
  bool energy_time_of_method = false;
};

/// Returns the flags of each result. Points are compared with those of the same instance; only feasible ones
/// take part.
[[nodiscard]] std::vector<ParetoFlags> pareto_flags(std::span<const SweepResult> results);

}  // namespace poet
