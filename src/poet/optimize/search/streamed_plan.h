#pragma once

// Plans with addresses straight from a streaming pass that has given everything its place.

#include "poet/optimize/heuristic/streaming.h"
#include "poet/plan/layout/layout.h"

namespace poet {

/// A stream with addresses as a plan for the device: its steps in their order, and waits. Transfers are not
/// moved beside compute, as that would take the place of something else.
[[nodiscard]] Plan plan_in_place(const Instance& instance, const Stream& stream);

/// The addresses of plan_in_place()'s result. O(steps log steps).
[[nodiscard]] Layout layout_of(const Instance& instance, const Plan& plan, const Stream& stream);

}  // namespace poet
