#pragma once

// What the RAM of an order depends on, as plain integers: computing every op once and keeping every value for
// its last use. Persistent values are resident, wherever they are at home.

#include <cstdint>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

struct OrderCosts {
  int ops = 0;
  // Per op, by its index in the graph, whatever the order.
  std::vector<std::vector<int>> before;     // ops that must come before it; distinct
  std::vector<std::vector<int>> after;      // the same edges the other way round
  std::vector<std::vector<int>> reads;      // distinct values
  std::vector<std::int64_t> produced;       // bytes of its results
  std::vector<std::int64_t> unread;         // of those that nobody reads: they leave with it
  std::vector<std::int64_t> workspace;      // 0 outside device semantics
  std::vector<std::vector<int>> may_cover;  // values over which it can write its first result, all of its
                                            // bytes; none outside device semantics
  std::vector<char> updates;                // changes something in place
  // Per value; those without bytes, and what is persistent, appear nowhere above.
  std::vector<std::vector<int>> users;  // distinct, none of them twice
  std::vector<std::int64_t> bytes;
  // The whole.
  std::int64_t persistent = 0;  // in RAM at every instant
};

/// `instance` must be verified. O(ops + values + edges log edges).
[[nodiscard]] OrderCosts order_costs(const Instance& instance, Semantics semantics);

/// RAM of an order, without what is persistent; less is better, first by the peak.
struct OrderRam {
  std::int64_t peak = 0;
  double beyond = 0;  // sum over the ops of what exceeds a given share while they run: exact below 2^53, and
                      // of many ops, so that 64 bits need not hold it

  auto operator<=>(const OrderRam&) const = default;
};

}  // namespace poet
