#pragma once

// Which persistent values live on storage: sets worth trying.

#include <vector>

#include "poet/cost/instance.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/problem.h"
#include "poet/plan/limits.h"

namespace poet {

/// Sets of persistent values to page, in the order in which they are worth a try: none, if the budget allows
/// that; then as few as the largest ops need (paged_to_fit.h), then all but some, and all. Those that stay
/// resident are the smallest, whose transfers cost the most energy per byte of RAM, up to a part of the RAM
/// that the budget leaves beside the largest op; the larger ones of these parts only where writing or time is
/// limited. Sets for which the budget is below the floor, or whose homes the storage does not hold, are left
/// out. Device semantics. O(sets * (ops + edges)).
[[nodiscard]] std::vector<std::vector<ValueId>> paged_sets(const Instance& instance, const Limits& limits);

/// By how much the values grow when they are paged: addresses are aligned, resident values packed. O(values).
[[nodiscard]] Bytes rounding_of(const Instance& instance, const std::vector<ValueId>& values);

/// What residence of each paged value saves and takes, in the problem with loads. Without transfer times
/// where they run beside compute. O(values + edges).
[[nodiscard]] std::vector<Resident> residents_of(const Instance& all_paged, const WithLoads& loads);

/// Whatever stays resident, no plan needs less RAM: that of the largest op with every value paged, where
/// those take their bytes alone. O(ops + edges).
[[nodiscard]] Bytes floor_of_every_choice(const Instance& instance);

/// No plan brings home fewer bytes of what its step updates, whichever values are resident: those take room
/// beside the largest op.
[[nodiscard]] Bytes least_written_home(const Instance& instance, Bytes ram_budget);

/// Whatever stays resident, a plan saves at most so much over one that pages every persistent value: one of
/// the former becomes one of the latter with the same RAM by a load of each resident value at the beginning
/// and a page-out at the end. So the bound of an instance in which all are paged (loads.h), less this, is one
/// on every choice. A fractional knapsack: of what a resident value saves, as much as has room beside the
/// largest op. Device semantics. O(values log values + edges).
[[nodiscard]] Joules most_saved_by_residents(const Instance& instance, Bytes ram_budget);

}  // namespace poet
