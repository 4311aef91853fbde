#pragma once

#include "poet/graph/graph.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// Everything computed once, every value retained up to its last use, nothing paged: the schedule of a device
/// with enough RAM. It obeys every rule of staged schedules in all semantics. O(ops * live values), which is
/// the size of the answer.
[[nodiscard]] Schedule keep_all_schedule(const Graph& graph);

}  // namespace poet
