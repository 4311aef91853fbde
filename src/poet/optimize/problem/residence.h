#pragma once

// Which persistent values live on storage: candidate sets, and bounds over all choices.

#include <vector>

#include "poet/cost/instance.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/problem/problem.h"
#include "poet/plan/limits.h"

namespace poet {

using PagedSet = std::vector<ValueId>;  // increasing

/// Returns whether the storage has room for the paged values of the instance, which are at home there.
[[nodiscard]] bool has_homes(const Instance& instance);

/// Returns candidate sets of persistent values to page, in the order in which to try them: the empty set, if
/// the budget allows it; few values, enough for the largest ops to fit (sets_to_fit()); all but some; and
/// all. The values that stay resident are the smallest, whose transfers cost the most energy per byte of RAM.
/// They fill a fraction of the RAM beside the largest op; the larger fractions are tried only with a deadline
/// or a write limit. Sets whose RAM floor exceeds the budget, or whose homes exceed the storage, are left
/// out. Device semantics. O(sets * (ops + edges)).
[[nodiscard]] std::vector<PagedSet> paged_sets(const Instance& instance, const Limits& limits,
                                               const Regime& regime);

/// Returns by how many bytes the values grow when they are paged: paged values are aligned, resident ones
/// packed. O(values).
[[nodiscard]] Bytes rounding_of(const Instance& instance, const std::vector<ValueId>& values);

/// Returns, for each paged value of the problem with loads, the energy that residence saves and the RAM that
/// it takes. Transfers that overlap compute count without their time. O(values + edges).
[[nodiscard]] std::vector<Resident> residents_of(const Instance& all_paged, const WithLoads& loads);

/// Returns a lower bound on the RAM of every plan, whatever stays resident: the largest op's with every value
/// paged and not aligned. O(ops + edges).
[[nodiscard]] Bytes floor_of_every_choice(const Instance& instance);

/// Returns a lower bound on the bytes of updated values that a step writes home, whichever values are
/// resident: resident values have to fit beside the largest op.
[[nodiscard]] Bytes least_written_home(const Instance& instance, Bytes ram_budget);

/// Returns an upper bound on the energy that residence saves: the bound of the instance with every persistent
/// value paged (loads.h), less this, holds for every choice. A plan with resident values becomes one without,
/// in the same RAM, by a load of each at the beginning and a page-out at the end. The bound is a fractional
/// knapsack of these savings in the RAM beside the largest op. Device semantics. O(values log values +
/// edges).
[[nodiscard]] Joules most_saved_by_residents(const Instance& instance, Bytes ram_budget);

}  // namespace poet
