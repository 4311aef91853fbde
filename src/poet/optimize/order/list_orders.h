#pragma once

// List scheduling: at each position, the ready op that a rule prefers.

#include <functional>
#include <vector>

#include "poet/optimize/order/order_costs.h"

namespace poet {

enum class ListRule {
  given,     // the graph's order
  least,     // the op that leaves least in RAM
  shrink,    // ops that do not increase RAM first, by what they need while they run; then by the largest
             // difference between that and what they leave
  youngest,  // the op that became ready last: depth first
};
inline constexpr ListRule kListRules[] = {ListRule::given, ListRule::least, ListRule::shrink,
                                          ListRule::youngest};

/// Returns a topological order. Updates in place come as early as possible, so that their operands are freed;
/// ties are broken by the graph's order. O((ops + edges) log ops).
[[nodiscard]] std::vector<int> list_order(const OrderCosts& costs, ListRule rule);

}  // namespace poet
