#pragma once

// The inputs of the keep-all RAM of an order, as plain integers: every op is computed once, every value kept
// until its last use. Persistent values are resident, wherever they are at home.

#include <cstdint>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"

namespace poet {

struct OrderCosts {
  int ops = 0;
  // Per op, by its index in the graph, whatever the order.
  std::vector<std::vector<int>> before;     // ops that must come before it; distinct
  std::vector<std::vector<int>> after;      // the reversed edges
  std::vector<std::vector<int>> reads;      // distinct values
  std::vector<std::int64_t> produced;       // bytes of its results
  std::vector<std::int64_t> unread;         // of its unread results, which are freed after it
  std::vector<std::int64_t> workspace;      // 0 outside device semantics
  std::vector<std::vector<int>> may_cover;  // values that its first result can overwrite, with all its
                                            // bytes; none outside device semantics
  std::vector<char> updates;                // changes something in place
  // Per value; values without bytes and persistent values do not appear above.
  std::vector<std::vector<int>> users;  // distinct
  std::vector<std::int64_t> bytes;
  // The whole.
  std::int64_t persistent = 0;  // in RAM at every instant
};

/// `instance` must be verified. O(ops + values + edges log edges).
[[nodiscard]] OrderCosts order_costs(const Instance& instance, Semantics semantics);

/// RAM of an order, without persistent values; compared by the peak first.
struct OrderRam {
  std::int64_t peak = 0;
  double beyond = 0;  // sum over the ops of the RAM above a given share while they run; a double, as the sum
                      // may exceed 64 bits (exact below 2^53)

  auto operator<=>(const OrderRam&) const = default;
};

}  // namespace poet
