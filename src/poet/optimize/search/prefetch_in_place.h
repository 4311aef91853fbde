#pragma once

// Prefetching for plans whose addresses are given.

#include "poet/optimize/search/streamed_plan.h"

namespace poet {

/// Returns the plan with page-ins started as soon as their address is free, with its energy. Computations,
/// addresses and the order of transfers are unchanged; the plan of `placed` must be canonical. Returns
/// `placed` itself, with its energy, if the channel blocks compute or prefetching would cost energy or time.
/// Device semantics. O((steps + allocations) log allocations) if few addresses differ between allocations of
/// the same RAM.
[[nodiscard]] PlacedPlan prefetched_in_place(const Instance& instance, PlacedPlan placed);

}  // namespace poet
