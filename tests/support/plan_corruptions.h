#pragma once

// Single things that can be wrong with a plan and its addresses.

#include <functional>
#include <string>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "tests/support/random_instance.h"

namespace poet::test {

/// A plan and all that is needed to judge it.
struct PlanCase {
  std::string name;
  Instance instance;
  Semantics semantics = Semantics::device;
  Plan plan;
  Layout layout;
  Limits limits;
};

struct Corruption {
  std::string name;
  int floor = 0;  // of some thousands at least that many must have changed what the plan does
  /// Changes one thing of a valid case; false if there is nothing of the sort to change. A plan with other
  /// steps is given allocations that belong to these steps, at the addresses of old: what is wrong must show
  /// in what the steps do.
  std::function<bool(Rng&, PlanCase&)> apply;
};

/// Of steps (swapped, dropped, moved, repeated, replaced), of the layout (shifted, exchanged, dropped), of
/// the limits (just below what the plan needs).
[[nodiscard]] std::vector<Corruption> corruptions();

/// Of the steps of persistent values at home on storage: loads, updates, page-outs home, frees.
[[nodiscard]] std::vector<Corruption> paged_corruptions();

}  // namespace poet::test
