#pragma once

#include "poet/graph/graph.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// Returns the keep-all schedule: every op computed once, every value retained up to its last use, nothing
/// paged. Valid in all semantics given enough RAM. O(ops * live values), the size of the result.
[[nodiscard]] Schedule keep_all_schedule(const Graph& graph);

}  // namespace poet
