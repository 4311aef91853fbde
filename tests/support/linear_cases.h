#pragma once

// Random problems small enough for search_linear_plans(), with everything that decides what a plan may do:
// storage and channel, idle power and waking up, workspace, updates, views, several results; budgets from one
// working set to everything, deadlines, write limits, ablations. The same seed is the same case everywhere.

#include <cstdint>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet::test {

struct LinearCase {
  Instance instance;
  Limits limits;
  Semantics semantics = Semantics::device;
  bool paging = true;
  bool rematerialization = true;
};

/// Graphs of `least_ops` to `most_ops` ops: half of them training steps of random_instance(), half of them
/// any graph in which each op reads up to three earlier values; in half of either most results may be written
/// over an operand. Times and energies are multiples of powers of
/// two, so that their sums are exact in any order.
[[nodiscard]] LinearCase linear_case(std::uint64_t seed, int least_ops, int most_ops);

/// A training step on a device whose persistent values can live on storage: all of them are resident in
/// `problem`, and the budget is from what one op needs with all of them paged, or those chosen.
struct PagedCase {
  LinearCase problem;
  std::vector<ValueId> paged;  // a choice
};
[[nodiscard]] PagedCase paged_case(std::uint64_t seed, int least_ops, int most_ops);

/// What the op with the largest operands, results and workspace needs, with what is persistent; on a device
/// an operand over which the first result may be written does not count.
[[nodiscard]] Bytes need_of_largest_op(const Instance& instance, Semantics semantics);

}  // namespace poet::test
