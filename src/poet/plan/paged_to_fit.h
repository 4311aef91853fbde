#pragma once

// As few persistent values on storage as the largest ops need.

#include <optional>
#include <vector>

#include "poet/base/units.h"
#include "poet/cost/instance.h"

namespace poet {

/// Persistent values to page so that every op fits into `ram`, increasing: those that the ops which do not
/// fit do not use, as those of an op are in RAM with it wherever they live. Greedy, from the op that lacks
/// most: of the values below what it lacks the largest, if that is half of it at least; else the smallest of
/// the others. Nothing where that ends without a fit. Device semantics. O((ops + values + edges) log ops).
[[nodiscard]] std::optional<std::vector<ValueId>> paged_to_fit(const Instance& instance, Bytes ram);

}  // namespace poet
