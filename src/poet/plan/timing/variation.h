#pragma once

// How long training steps take if the times of transfers and ops vary from step to step: the plan's timeline,
// many times over.

#include <cstdint>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"

namespace poet {

/// One time over many steps.
struct TimeSpread {
  Seconds median{};
  Seconds mean{};
  Seconds high{};  // the 95th percentile (kHighQuantile)
};

struct SimulatedSteps {
  TimeSpread runtime;
  TimeSpread stalled;            // of it, compute waiting for the channel
  std::vector<double> runtimes;  // of each step, increasing

  /// Returns the share of the steps that end by the deadline, as it counts (latest_end()). O(log steps).
  [[nodiscard]] double share_within(Seconds deadline) const;
  /// Returns the earliest deadline within which this share of the steps ends. O(1).
  [[nodiscard]] Seconds deadline_for(double share) const;
};

/// The number of steps of a simulation by default: a share of 95% is then known to 0.5%.
inline constexpr int kSimulatedSteps = 2000;

/// Simulates that many training steps by a plan on a device, or fewer, at least 200, if the plan has more
/// than 2,000 steps of its own. Device and `plan` are as in timeline_of(): one compute engine, one channel in
/// order. Every time is drawn from a lognormal distribution through the cost table's figure and the 95th
/// percentile that CostTable::timing.variation gives. A transfer's time is drawn by itself. An op's is the
/// product of a factor that all ops of a step share and one of its own, whose mean is 1, as op times of a
/// profile add up to the time of the median step. Without a variation every step is the timeline's. The
/// result depends on the arguments only; other seeds give other samples. O(simulated steps * plan steps +
/// edges).
[[nodiscard]] SimulatedSteps simulate(const Instance& instance, const Plan& plan, int steps = kSimulatedSteps,
                                      std::uint64_t seed = 1);

}  // namespace poet
