#pragma once

// Tables of which a step needs a few rows only: the whole stays on storage, and what a plan brings into RAM
// and takes home are the rows that the step's indices name (Value::rows), sizes static, addresses data.

#include <vector>

#include "poet/graph/graph.h"

namespace poet {

/// The parameters that with_indexed() takes, increasing: tables of more rows than a step has indices, which
/// nothing reads but one `embedding` by an input of the step and, where they are trained, one `sgd_update`.
/// That one leaves every row as it is that no index names; with momentum each step changes all of them.
/// O(ops + values + edges).
[[nodiscard]] std::vector<ValueId> indexable_tables(const Graph& training);

/// `training` with these tables by index. The table becomes a value of as many rows as there are indices,
/// and the indices become places in it: those of the first index that names the same row
/// (`first_occurrences`). What looks rows up, sums gradients and updates is as before, in the same order, so
/// that portable kernels compute the same bits. Expects indexable tables. Verified. O(ops + values + edges).
[[nodiscard]] Graph with_indexed(const Graph& training, const std::vector<ValueId>& tables);

/// The graph that with_indexed() was given, for whoever knows tables only; one in parts as it is. O(ops +
/// values + edges).
[[nodiscard]] Graph without_indexed(const Graph& graph);

}  // namespace poet
