#pragma once

// How little RAM is known to be enough, for who has less than the floor.

#include <optional>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

/// RAM not much over `floor` with which a quick search (optimize/quick_energy.h) has a plan of the instance
/// within the other limits, without what that plan does not need; nothing where it has none with twice the
/// floor, or `stop` comes first. Eight quick searches at most.
[[nodiscard]] std::optional<Bytes> quick_least_ram(const Instance& instance, const Limits& limits,
                                                   Bytes floor, const Stop& stop);

}  // namespace poet
