#pragma once

// Inputs whose first axis counts time steps instead of samples. Private to runtime/data.

#include <optional>

#include "poet/graph/graph.h"

namespace poet::runtime {

/// Returns a recurrent op that reads the first axis of `input` as its time steps, through ops that keep this
/// axis apart from the others; nothing where there is none. O(ops * depth).
[[nodiscard]] std::optional<OpId> reader_of_time(const Graph& graph, ValueId input);

}  // namespace poet::runtime
