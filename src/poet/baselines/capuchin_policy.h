#pragma once

// What Capuchin evicts and how it comes back: the policy of Peng et al., ASPLOS 2020, from
// summaries of the paper and from reimplementations after mu-TWO (MLSys 2023) where these go further: the two
// champions that the hybrid compares, and the recomputations that start from a value counting against it.

#include <functional>
#include <vector>

#include "poet/baselines/access_log.h"

namespace poet {

/// A value that leaves RAM between two of its accesses.
struct Eviction {
  ValueId value;
  OpId evicted_access;     // leaves after this op
  OpId back_access;        // the next one that needs it
  double free_time = 0;    // seconds of FT; below zero: how long a swap would keep compute waiting
  bool swap = true;        // else it is recomputed
  double fetch_start = 0;  // of a swap: when the log's clock should find its page-in started
};

struct CapuchinPolicy {
  std::vector<Eviction> evictions;  // in the order chosen
  Bytes missing{};                  // of the excess over the budget that they do not cover
};

/// Candidates are values accessed more than once, each with the one pair of consecutive accesses that frees
/// it during the peak period (the ops from the first to the last whose RAM exceeds the budget, in the log)
/// and has the largest FT = (back access - page-in time) - (end of evicted access + page-out time); on a
/// channel that blocks compute nothing overlaps and FT is minus both times.
///
/// Chosen until their bytes cover what the log's peak exceeds the budget by:
/// 1. swaps by falling FT, while that is not below zero;
/// 2. then the hybrid policy. A recomputation's cost goes back from the value to what is in RAM at its back
///    access; what a swap has out at that time costs its page-in; and it counts once more for every
///    recomputation already chosen that starts from the value. MSPS is bytes over that cost. Each candidate
///    would take the cheaper way, a stall of -FT or its recomputation. The swap of the largest FT and the
///    recomputation of the largest MSPS are compared, and the one of less overhead is chosen.
/// Never chosen: a recomputation of or through an op that cannot be recomputed at that time.
///
/// A page-in starts as late as arrives in time; one that another follows on the channel ends before that one
/// starts; never in the peak period if its back access comes after it. `interrupted` is polled per choice.
/// O(chosen * candidates * chain).
[[nodiscard]] CapuchinPolicy capuchin_policy(const MethodRequest& request, const Dataflow& flow,
                                             const AccessLog& log, const std::function<bool()>& interrupted);

/// Seconds of the ops that bring `value` back at `back_access`, given `evictions`; infinite where none can.
[[nodiscard]] double recomputation_seconds(const MethodRequest& request, const Dataflow& flow,
                                           const std::vector<Eviction>& evictions, ValueId value,
                                           OpId back_access);

}  // namespace poet
