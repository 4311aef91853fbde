#pragma once

#include <string>

#include "poet/graph/graph.h"

namespace poet {

/// Returns the counts of a training graph, as fields `ops`, `values` and `transient_values` of the JSON
/// answers: "303 ops, 379 values (274 transient)". O(ops + values + edges).
[[nodiscard]] std::string size_text(const Graph& graph);

}  // namespace poet
