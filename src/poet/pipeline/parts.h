#pragma once

// How far a network is split into parts for a RAM budget.

#include <optional>
#include <vector>

#include "poet/cost/device.h"
#include "poet/cost/persistent_policy.h"
#include "poet/graph/graph.h"
#include "poet/pipeline/spec.h"
#include "poet/plan/limits.h"
#include "poet/split/split.h"

namespace poet {

struct InParts {
  Graph training;
  std::optional<Bytes> part;     // no value is larger, but for what cannot be cut; absent: not split
  std::vector<Unsplit> unsplit;  // what cannot be cut, the largest first
};

/// Tables of which a step needs a few rows (split/indexed.h) are transferred by index where that costs less
/// than transferring them whole, and by Splitting::energy the plan is the better one; without it never. Then,
/// by `splitting`: as it is, in parts of the size asked for, or, where the RAM beside what is persistent is
/// less than twice what the largest op needs, in parts of a power of two bytes (Granularity::choose()).
/// Once there is a plan, graphs of more ops than Splitting::compared_ops are not compared with it.
/// Throws InputError naming the field for a size that split() refuses. O(split() and Splitting::energy, once
/// per size).
[[nodiscard]] InParts in_parts(const Graph& training, const Splitting& splitting, const Limits& limits,
                               PersistentPolicy persistent, const DeviceProfile& device);

}  // namespace poet
