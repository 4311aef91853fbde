#pragma once

// Schedules of recomputation methods that decide which values are retained in RAM.

#include <functional>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// Returns whether the method retains the value at the start of the stage. Called for values that exist by
/// then.
using KeepRule = std::function<bool(OpId stage, ValueId value)>;

/// Returns the cheapest recomputation for given retention (Checkmate, arXiv 1910.02653, section 4.3: R from
/// S). Backwards from the last stage: values that the next stage retains, or an op of this one reads, are
/// retained or else recomputed here with their operands. Values that are not needed any more are not
/// retained; values that cannot be recomputed are, regardless of the rule. Nothing is paged. O(stages * (ops
/// + edges)).
[[nodiscard]] Schedule schedule_of_retention(const Instance& instance, const Dataflow& flow,
                                             const KeepRule& keep);

}  // namespace poet
