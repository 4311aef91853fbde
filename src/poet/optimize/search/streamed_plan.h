#pragma once

// Plans with addresses from a streaming pass that assigns them.

#include <vector>

#include "poet/optimize/heuristic/streaming.h"
#include "poet/optimize/problem/loads.h"
#include "poet/plan/layout/layout.h"

namespace poet {

/// A plan whose addresses fit the RAM budget.
struct PlacedPlan {
  Plan plan;
  Joules energy{};
  Layout layout;
};

/// Converts a stream with addresses to a plan for the device: the same steps in the same order, with waits.
/// Transfers do not overlap compute, as they would need RAM that holds other values.
[[nodiscard]] Plan plan_in_place(const Instance& instance, const Stream& stream);

/// Returns the layout of the plan with the given addresses. O(steps log steps).
[[nodiscard]] Layout layout_of(const Instance& instance, const Plan& plan,
                               const std::vector<StreamAddress>& addresses);

/// Converts a placed plan of the instance with loads to the original instance; addresses unchanged. Energy is
/// not set; the result may break a limit, as loads were ops that the channel does not delay. O(steps log
/// steps).
[[nodiscard]] PlacedPlan placed_without_loads(const Instance& original, const WithLoads& loads,
                                              const PlacedPlan& plan);

/// Converts a plan of the instance with loads to the original instance, within the RAM budget. Transfers
/// overlap compute as in overlapped() if the device can do that; else they are right before their use. The
/// result may miss the deadline.
[[nodiscard]] Plan timed_without_loads(const Instance& original, const WithLoads& loads, const Plan& plan,
                                       const Limits& limits);

/// Converts likewise and improves the times of transfers (plan_transfers()); the second returns its energy.
[[nodiscard]] Plan planned_without_loads(const LoadsOf& of, const Plan& plan, const Stop& stop);
[[nodiscard]] Joules energy_without_loads(const LoadsOf& of, const Plan& plan, const Stop& stop);

}  // namespace poet
