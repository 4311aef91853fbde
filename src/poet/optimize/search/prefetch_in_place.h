#pragma once

// Page-ins beside compute, for plans whose addresses are given.

#include "poet/optimize/search/streamed_plan.h"

namespace poet {

/// The same computations and transfers in the same order, everything at the address where it lies in
/// `placed`, whose plan is canonical; page-ins start as soon as the address of their value is free, but not
/// before the page-outs and page-ins that are before them. Where the channel blocks compute, or the plan
/// would take more energy or time then, it comes back as it is. With its energy. Device semantics. O((steps +
/// allocations) log allocations), as long as few addresses differ between allocations of the same RAM.
[[nodiscard]] PlacedPlan prefetched_in_place(const Instance& instance, PlacedPlan placed);

}  // namespace poet
