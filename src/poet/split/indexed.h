#pragma once

// Tables of which a step needs few rows: the table stays on storage, and plans page in and out the rows with
// the step's indices (Value::rows). Sizes are static; which rows depends on the data.

#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// Returns the parameters that with_indexed() accepts, in ascending order: tables with more rows than a step
/// has indices, read only by one `embedding` of an input of the step and, if trained, one `sgd_update`. Plain
/// SGD changes only rows with an index; with momentum each step changes all of them. O(ops + values + edges).
[[nodiscard]] std::vector<ValueId> indexable_tables(const Graph& training);

/// Returns the verified graph with these tables by index. A table becomes a value with one row per index, and
/// each index becomes the position of the first index with the same row (`first_occurrences`). Lookup,
/// summation of gradients and update are unchanged and in the same order, so that portable kernels compute
/// the same bits. `tables` must be indexable_tables(). O(ops + values + edges).
[[nodiscard]] Graph with_indexed(const Graph& training, const std::vector<ValueId>& tables);

/// Returns the graph that with_indexed() was given; one in parts unchanged. O(ops + values + edges).
[[nodiscard]] Graph without_indexed(const Graph& graph);

}  // namespace poet
