#pragma once

// Splits the operators of a network into parts for a RAM budget.

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
  std::optional<Bytes> part;     // the largest size of values, except those in `unsplit`; absent: not split
  std::vector<Unsplit> unsplit;  // values that cannot be split, the largest first
};

/// Splits the graph as `splitting` says: not at all, into parts of the requested size, or automatically: if
/// the RAM beside the persistent bytes is less than twice the largest op's, into parts of a power of two
/// bytes (Granularity::choose()). Tables of which a step needs a few rows (split/indexed.h) are transferred
/// by index if that is cheaper than transferring them whole and Splitting::energy finds the plan better;
/// never without it. Once there is a plan, graphs of more than Splitting::compared_ops ops are not compared
/// with it. Throws InputError naming the field for a size that split() refuses. O(split() and
/// Splitting::energy, once per size).
[[nodiscard]] InParts in_parts(const Graph& training, const Splitting& splitting, const Limits& limits,
                               PersistentPolicy persistent, const DeviceProfile& device);

}  // namespace poet
