#pragma once

// A scheduling problem without its limits: a training graph and what each part of it costs. It stands alone:
// schedule files embed it, `poet verify` needs nothing else.

#include <string>

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

/// Rounds up to the alignment what lives in the arena: values that are not persistent, and workspace. What a
/// stay in RAM costs is then what its address costs.
void align_sizes(const Graph& graph, CostTable& costs);

/// Checks costs against the graph (sizes of the tables, finite and non-negative figures, aligned sizes) and
/// the graph itself. Throws InputError naming the op or value.
void verify(const Instance& instance);

}  // namespace poet
