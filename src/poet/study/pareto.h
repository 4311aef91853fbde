#pragma once

// Which points of a sweep no other point beats.

#include <span>
#include <vector>

#include "poet/study/sweep_result.h"

namespace poet {

/// Two figures of which less is better.
struct TradeOff {
  double x = 0;
  double y = 0;
};

/// For each point whether no other is at most as large in both figures and smaller in one; equal points do
/// not beat each other. O(n log n).
[[nodiscard]] std::vector<bool> non_dominated(std::span<const TradeOff> points);

/// On which Pareto curves a point lies: energy over the RAM that its plan needs, and over the time that it
/// takes, among all methods and among the points of its own.
struct ParetoFlags {
  bool energy_ram = false;
  bool energy_time = false;
  bool energy_ram_of_method = false;
  bool energy_time_of_method = false;
};

/// One per result. Points are compared with those on the same instance; only those that hold take part.
[[nodiscard]] std::vector<ParetoFlags> pareto_flags(std::span<const SweepResult> results);

}  // namespace poet
