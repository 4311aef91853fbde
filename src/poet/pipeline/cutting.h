#pragma once

// Cuts a training graph into parts, and tables into rows.

#include <vector>

#include "poet/cost/cuts.h"
#include "poet/cost/device.h"
#include "poet/cost/persistent_policy.h"
#include "poet/graph/graph.h"
#include "poet/split/split.h"

namespace poet {

struct InParts {
  Graph training;
  std::vector<Unsplit> unsplit;  // values that cannot be split, the largest first
};

/// Splits the graph into parts (split/split.h). `ram_budget`: SplitOptions::ram. Throws InputError naming the
/// field for a size that split() refuses.
[[nodiscard]] InParts in_parts(const Graph& training, Bytes part, Bytes ram_budget);

/// Returns the tables (split/indexed.h) whose rows cost less to transfer than the whole does; none where the
/// storage does not hold them.
[[nodiscard]] std::vector<ValueId> worth_an_index(const Graph& training, const DeviceProfile& device);

/// The graphs of a step of the network, besides `given`. `labels`: an instance whose graph and costs are left
/// out. `tables`: may be transferred by index. `other_parts`: sizes of parts may be chosen.
[[nodiscard]] Cuts cuts_of(const Graph& training, const DeviceProfile& device, PersistentPolicy persistent,
                           const std::vector<ValueId>& tables, const Instance& labels, const Cut& given,
                           bool other_parts);

}  // namespace poet
