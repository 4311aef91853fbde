#pragma once

// How far a network is split into parts for a RAM budget.

#include <optional>

#include "poet/cost/device.h"
#include "poet/cost/persistent_policy.h"
#include "poet/graph/graph.h"
#include "poet/pipeline/spec.h"

namespace poet {

struct InParts {
  Graph training;
  std::optional<Bytes> part;  // no value is larger, but for what cannot be cut; absent: not split
};

/// By `splitting`: as it is, in parts of the size asked for, or, where the budget is less than twice what the
/// largest op needs, in the coarsest parts of a power of two bytes of which it is not; the finest possible
/// ones where there are none. Throws InputError naming the field for a size that is not positive. O(split(),
/// once per size).
[[nodiscard]] InParts in_parts(Graph training, const Splitting& splitting, Bytes ram_budget,
                               PersistentPolicy persistent, const DeviceProfile& device);

}  // namespace poet
