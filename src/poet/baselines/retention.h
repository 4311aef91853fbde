#pragma once

// From what is kept to a schedule: recomputation methods that decide which values stay in RAM.

#include <functional>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

/// Whether the method wants the value in RAM at the start of the stage. Asked of values that exist by then.
using KeepRule = std::function<bool(OpId stage, ValueId value)>;

/// The cheapest recomputation for given retention (Checkmate, arXiv 1910.02653, section 4.3: R from S). The
/// last stage first: what the next stage retains, or an op of this one reads, must have been kept, or is
/// recomputed here, operands included. Values that nothing needs any more are not kept; values that cannot be
/// recomputed are, whatever the rule says. Nothing is paged. O(stages * (ops + edges)).
[[nodiscard]] Schedule schedule_of_retention(const Instance& instance, const Dataflow& flow,
                                             const KeepRule& keep);

}  // namespace poet
