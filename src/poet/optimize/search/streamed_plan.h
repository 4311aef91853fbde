#pragma once

// Plans with addresses straight from a streaming pass that has given everything its place.

#include <vector>

#include "poet/optimize/heuristic/streaming.h"
#include "poet/optimize/problem/loads.h"
#include "poet/plan/layout/layout.h"

namespace poet {

/// A plan whose addresses fit the RAM budget as well.
struct PlacedPlan {
  Plan plan;
  Joules energy{};
  Layout layout;
};

/// A stream with addresses as a plan for the device: its steps in their order, and waits. Transfers are not
/// moved beside compute, as that would take the place of something else.
[[nodiscard]] Plan plan_in_place(const Instance& instance, const Stream& stream);

/// The plan's allocations where `taken` puts them. O(steps log steps).
[[nodiscard]] Layout layout_of(const Instance& instance, const Plan& plan, const std::vector<Taken>& taken);

/// Of a plan of the instance with loads (optimize/problem/loads.h), the original's with the same addresses:
/// every transfer stands where it stood. Its energy is left open; as loads were taken for ops, which no
/// channel delays, it may break a limit. O(steps log steps).
[[nodiscard]] PlacedPlan placed_without_loads(const Instance& original, const WithLoads& loads,
                                              const PlacedPlan& plan);

/// Of a plan of the instance with loads, the original's within the RAM budget: transfers run beside compute
/// where the device can do that, as overlapped() has them, and right before their use elsewhere. It may end
/// after the deadline.
[[nodiscard]] Plan timed_without_loads(const Instance& original, const WithLoads& loads, const Plan& plan,
                                       const Limits& limits);

/// The same with its transfers at better moments (plan_transfers()), and what it takes.
[[nodiscard]] Plan planned_without_loads(const LoadsOf& of, const Plan& plan, const Stop& stop);
[[nodiscard]] Joules energy_without_loads(const LoadsOf& of, const Plan& plan, const Stop& stop);

}  // namespace poet
