#pragma once

// A small RAM budget known to suffice, reported when the budget is below the floor.

#include <optional>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

/// Returns a RAM budget, at most twice `floor`, for which the quick steps of a search (portfolio.h) find a
/// plan within the other limits, lowered to what that plan needs; nullopt if they find none or `stop` comes
/// first. At most eight quick searches.
[[nodiscard]] std::optional<Bytes> quick_least_ram(const Instance& instance, const Limits& limits,
                                                   Bytes floor, const Stop& stop);

}  // namespace poet
