#pragma once

// The same step with its ops in another order. Plans compute in the order of the graph, so that another order
// is another instance.

#include <vector>

#include "poet/cost/instance.h"

namespace poet {

/// `instance` with its ops in this order: op i is the one that was order[i], with its operands, results and
/// costs as they were. Values keep their ids, so that what names values (residence, homes, tables) holds for
/// both; where value i was what op i writes, it no longer is, and files name ops and values apart. Computes
/// the same, and is verified if `instance` is. Throws InputError unless respects(instance.graph, order)
/// (graph/precedence.h). O(ops + values + edges log edges).
[[nodiscard]] Instance reordered(const Instance& instance, const std::vector<OpId>& order);

}  // namespace poet
