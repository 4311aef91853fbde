#pragma once

// How messages and pictures call ops and values.

#include <string>

#include "poet/graph/graph.h"

namespace poet {

/// The name, or "op 7" / "value 7" where there is none (also for an id that the graph does not have).
[[nodiscard]] std::string name_of(const Graph& graph, OpId op);
[[nodiscard]] std::string name_of(const Graph& graph, ValueId value);

}  // namespace poet
