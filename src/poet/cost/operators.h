#pragma once

// What one operator does, counted from its shapes: one rule per kind. docs/cost_model.md lists the counts.

#include <string_view>
#include <vector>

#include "poet/cost/tabulate.h"
#include "poet/graph/graph.h"

namespace poet {

/// Every kind that has a cost rule, in the order of docs/operators.md.
[[nodiscard]] std::vector<std::string_view> priced_operator_kinds();

}  // namespace poet
