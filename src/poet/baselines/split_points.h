#pragma once

// The points at which Chen et al. may cut the forward pass.

#include <cstdint>
#include <vector>

#include "poet/graph/dataflow.h"
#include "poet/graph/graph.h"

namespace poet {

/// Returns the number of ops before the first backward op: the forward pass with inputs, loss and updates of
/// running statistics.
[[nodiscard]] std::int32_t forward_ops(const Graph& graph);

/// Forward ops that a method which recomputes forward values may choose from, in order: those that can be
/// recomputed and whose results the backward pass or a later forward op reads. The "linearised" candidates of
/// Checkmate's generalisation (arXiv 1910.02653, appendix B).
[[nodiscard]] std::vector<OpId> recomputable_forward_ops(const Graph& graph, const Dataflow& flow);

/// Of these, the articulation points: ops after which one op's results alone lead on to the rest of the
/// forward pass (results of ops that cannot be recomputed, inputs, stay in RAM and do not count). O(ops +
/// edges).
[[nodiscard]] std::vector<OpId> articulation_points(const Graph& graph, const Dataflow& flow);

}  // namespace poet
