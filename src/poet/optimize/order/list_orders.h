#pragma once

// Orders op by op: of those that may come next, the one that a rule prefers.

#include <functional>
#include <vector>

#include "poet/optimize/order/order_costs.h"

namespace poet {

enum class ListRule {
  given,     // the graph's order
  least,     // what leaves least in RAM
  shrink,    // first what leaves no more in RAM than there was, by what it needs meanwhile; then what needs
             // most beyond what it leaves
  youngest,  // what became possible last: depth first
};
inline constexpr ListRule kListRules[] = {ListRule::given, ListRule::least, ListRule::shrink,
                                          ListRule::youngest};

/// An allowed order. Ops that change something in place come as soon as they may, so that what they read
/// leaves; ties go by the graph's order. O((ops + edges) log ops).
[[nodiscard]] std::vector<int> list_order(const OrderCosts& costs, ListRule rule);

}  // namespace poet
