#pragma once

// A scheduling problem without its limits: a training graph and its costs. It is self-contained: plan and
// schedule files embed it, and `poet verify` needs nothing else.

#include <string>
#include <vector>

#include "poet/cost/cost_table.h"
#include "poet/graph/graph.h"

namespace poet {

struct Instance {
  Graph graph;
  CostTable costs;
  std::string model;
  std::string platform;  // name of the device profile, or of the published platform
  std::string source;    // where graph and costs come from; for display
  std::int64_t batch_size = 1;
  bool has_device = false;  // a `device` object was present: device semantics apply by default
};

/// Rounds sizes in the arena (values that are not resident, and workspaces) up to the alignment, so that the
/// RAM charged for a value includes its padding.
void align_sizes(const Graph& graph, CostTable& costs);

/// Returns the instance with these persistent values at home on storage (Value::paged); all others are
/// resident, except rows of tables, which are always paged. Paged values count towards RAM only while a plan
/// keeps them there; their homes are subtracted from the storage's capacity (negative: too little).
/// O(values).
[[nodiscard]] Instance with_paged(Instance instance, const std::vector<ValueId>& paged);

/// Returns the instance without values at home on storage, rows of tables included: nothing is transferred.
/// O(values).
[[nodiscard]] Instance without_homes(Instance instance);

/// Returns the persistent values that may be at home either on storage or in RAM, in ascending order: none
/// without storage, and none that are excluded from the budget. O(values).
[[nodiscard]] std::vector<ValueId> pageable(const Instance& instance);

/// Verifies the graph, and its costs (sizes of the tables, finite and non-negative figures, aligned sizes).
/// Throws InputError naming the op or value.
void verify(const Instance& instance);

}  // namespace poet
