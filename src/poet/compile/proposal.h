#pragma once

// A plan of a variant, on its way to the ledger.

#include <optional>

#include "poet/optimize/problem/candidate.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

struct Proposal {
  Plan plan;        // of Variant::judged
  Joules energy{};  // by the planner's clock
  /// Of the plan; where persistent values are paged, of the instance with loads (problem/loads.h). Empty for
  /// some plans.
  Decisions decided;
  /// The staged schedule that the plan comes from, or what the plan looks like in stages.
  Schedule schedule;
  bool synchronous = false;      // no staged schedule is equivalent
  std::optional<Layout> layout;  // its addresses
};

}  // namespace poet
