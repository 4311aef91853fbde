#pragma once

// Names of ops and values in messages and pictures.

#include <string>

#include "poet/graph/graph.h"

namespace poet {

/// Returns the name, or "op 7" / "value 7" if it has none or the graph has no such id.
[[nodiscard]] std::string name_of(const Graph& graph, OpId op);
[[nodiscard]] std::string name_of(const Graph& graph, ValueId value);

}  // namespace poet
