#pragma once

// Selects persistent values to page so that the largest ops fit into RAM.

#include <optional>
#include <vector>

#include "poet/base/units.h"
#include "poet/cost/instance.h"

namespace poet {

/// Returns persistent values, in ascending order, to page so that every op fits into `ram`. For an op that
/// does not fit these are values that it does not use, as those it uses are in RAM with it in any case.
/// Greedy, from the op with the largest deficit: the largest value below the deficit, if it is at least half
/// of it; else the smallest of the others. Returns nullopt if that does not succeed. Device semantics. O((ops
/// + values + edges) log ops).
[[nodiscard]] std::optional<std::vector<ValueId>> paged_to_fit(const Instance& instance, Bytes ram);

/// Returns the sets of paged_to_fit() that leave a half, a quarter, an eighth, a 16th, a 32nd and nothing of
/// `room` free in `ram`, for activations beside the largest op. `room`: `ram` less the RAM floor with every
/// value paged. Every byte that is paged costs energy, so the best set is often one that leaves just enough.
/// Without duplicates and empty sets. As paged_to_fit(), once per set.
[[nodiscard]] std::vector<std::vector<ValueId>> sets_to_fit(const Instance& instance, Bytes ram, Bytes room);

}  // namespace poet
