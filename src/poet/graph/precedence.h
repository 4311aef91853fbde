#pragma once

// Which orders of its ops a graph allows. The given one is one of many: an op needs what it reads, and what
// is changed in place must have been read before by everybody else. Nothing else ties ops to places.

#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// Per op, those that must come before it: the producers of what it reads, views resolved, and of an op that
/// updates persistent values, paged or not, all other readers of them. Distinct, increasing. `graph` must be
/// verified. O(ops + edges log edges).
[[nodiscard]] IdVector<OpId, std::vector<OpId>> predecessors(const Graph& graph);

/// Whether `order` names every op once, each after its predecessors. `graph` must be verified. As
/// predecessors().
[[nodiscard]] bool respects(const Graph& graph, const std::vector<OpId>& order);

}  // namespace poet
