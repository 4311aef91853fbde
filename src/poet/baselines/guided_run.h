#pragma once

// A training step under Capuchin (Peng et al., ASPLOS 2020): evictions and prefetches at the moments that a
// policy fixed, everything else on demand. Without a policy it is the measured execution, which only swaps on
// demand. The clock and the rules of RAM are the verifier's.

#include <string>
#include <vector>

#include "poet/baselines/capuchin_policy.h"

namespace poet {

struct GuidedRun {
  Plan plan;                  // canonical
  std::string reason;         // why it ended early; empty when it did not
  std::vector<ValueId> late;  // prefetched values that compute still had to wait for
};

/// - After an evicted access a value to be swapped is paged out beside compute (or, lying on storage already,
///   just dropped) and its RAM given back at the first op boundary after the transfer; one to be recomputed
///   is dropped. If it is accessed before it has left, it stays.
/// - A page-in starts at the last op boundary that is not after its `fetch_start` on the log's clock, or at
/// the
///   first later one at which it fits without an eviction.
/// - On access, what lies on storage is paged in and awaited, what was dropped is computed, recursively, with
///   operands locked. What such a computation brings back that is still to be read stays as long as there is
///   room (collective recomputation).
/// - When an allocation does not fit: computed operands that nobody will read are dropped, then the earliest
///   unfinished page-out is awaited, then what should be out at that time is put out again, then the value
///   accessed the longest ago is swapped out on the spot, prefetched ones last.
/// Ends early when that is not enough, when it thrashes (more than 50 times the computing time of the step),
/// or when interrupted. O(steps * live values).
[[nodiscard]] GuidedRun guided_run(const MethodRequest& request, const Dataflow& flow, const AccessLog& log,
                                   const std::vector<Eviction>& policy);

}  // namespace poet
