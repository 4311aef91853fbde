#pragma once

// A training step under Capuchin (Peng et al., ASPLOS 2020): evictions and prefetches at the times fixed by a
// policy, everything else on demand. Without a policy it is the measured execution, which swaps on demand
// only. Time and RAM are counted as by the verifier.

#include <string>
#include <vector>

#include "poet/baselines/capuchin_policy.h"

namespace poet {

struct GuidedRun {
  Plan plan;                  // canonical
  std::string reason;         // why it ended early; empty if it did not
  std::vector<ValueId> late;  // prefetched values that compute still had to wait for
};

/// Simulates the step:
/// - After an evicted access a value to be swapped is paged out while compute goes on (or dropped if it is on
///   storage already), and its RAM is freed at the first op boundary after the transfer; a value to be
///   recomputed is dropped. If it is accessed before it has left, it stays.
/// - A page-in starts at the last op boundary not after its `fetch_start` on the log's clock, or at the first
///   later one at which it fits without an eviction.
/// - On access, values on storage are paged in and awaited; dropped ones are recomputed recursively, with
///   operands locked. Other results of a recomputation that are still to be read stay while there is room
///   (collective recomputation).
/// - If an allocation does not fit, in this order: computed operands that are not read again are dropped, the
///   earliest unfinished page-out is awaited, values that should be out at that time are evicted again, and
///   the least recently accessed value is swapped out synchronously, prefetched ones last.
/// Ends early if that does not suffice, if it thrashes (more than 50 times the computing time of the step),
/// or if interrupted. O(steps * live values).
[[nodiscard]] GuidedRun guided_run(const MethodRequest& request, const Dataflow& flow, const AccessLog& log,
                                   const std::vector<Eviction>& policy);

}  // namespace poet
