#pragma once

// The accesses of a step with unlimited RAM and no waiting: the records of Capuchin's measured execution
// without the time of swapping.

#include <vector>

#include "poet/baselines/method.h"
#include "poet/graph/dataflow.h"

namespace poet {

struct AccessLog {
  IdVector<OpId, double> begin;  // seconds from the beginning of the step
  IdVector<OpId, double> end;
  IdVector<OpId, Bytes> ram;  // transient bytes while the op runs; workspace in device semantics only
  Bytes peak{};
  IdVector<ValueId, std::vector<OpId>> accesses;  // the op that computes it, then its readers, in order
};

/// O(ops + edges).
[[nodiscard]] AccessLog access_log(const MethodRequest& request, const Dataflow& flow);

}  // namespace poet
