#pragma once

// A scheduling problem without its limits: a training graph and what each part of it costs. It stands alone:
// schedule files embed it, `poet verify` needs nothing else.

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
  std::string source;    // where graph and costs come from, for people
  std::int64_t batch_size = 1;
  bool has_device = false;  // a `device` object was present: device semantics apply by default
};

/// Rounds up to the alignment what lives in the arena: values that are not resident, and workspace. What a
/// stay in RAM costs is then what its address costs.
void align_sizes(const Graph& graph, CostTable& costs);

/// The instance with these persistent values at home on storage (Value::paged), all others resident but for
/// rows of tables, which always are. RAM counts where a plan keeps it; homes are off the storage's capacity
/// (negative: too little). O(values).
[[nodiscard]] Instance with_paged(Instance instance, const std::vector<ValueId>& paged);

/// The instance with nothing at home on storage, rows of tables included: nothing is transferred. O(values).
[[nodiscard]] Instance without_homes(Instance instance);

/// The persistent values that may live on storage or in RAM, increasing: none without storage, and none that
/// the budget does not count. O(values).
[[nodiscard]] std::vector<ValueId> pageable(const Instance& instance);

/// Checks costs against the graph (sizes of the tables, finite and non-negative figures, aligned sizes) and
/// the graph itself. Throws InputError naming the op or value.
void verify(const Instance& instance);

}  // namespace poet
