#pragma once

// A plan as its computations and, in the slots between them, transfers and releases of memory that may move
// to other slots: what the transfer planner (transfers.h) and slack (slack.h) work on.

#include <cstdint>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/plan.h"
#include "poet/plan/timing/timeline.h"

namespace poet {

/// A transfer. Slot s is right before computation s; the last slot is after all computations.
struct Shiftable {
  Step step;
  int slot = 0;
  int earliest = 0;
  int latest = 0;    // page-in: before the first computation that reads it; page-out: where its RAM is freed
  double begin = 0;  // on the channel, as planned
  int after = -1;    // page-out: the page-in that brings its value
};

/// A release of memory.
struct Release {
  Step step;
  int slot = 0;
  int earliest = 0;   // after the last use
  int page_out = -1;  // the transfer that it waits for
};

struct SlotPlan {
  std::vector<Step> computations;
  /// Per computation, the value that is paged out before the result is written over it, as RAM demands;
  /// invalid: none.
  std::vector<ValueId> overwritten;
  std::vector<Shiftable> transfers;
  std::vector<Release> releases;
  bool exact = true;  // false: a slot holds two allocations of one value, which have no order here
};

/// Returns what the plan does in which slot, and how far it could be shifted. `line` is the plan's;
/// `capacity`: the RAM for transient bytes. Device semantics. O(steps + edges).
[[nodiscard]] SlotPlan slot_plan_of(const Instance& instance, const Plan& plan, const Timeline& line,
                                    std::int64_t capacity);

/// Returns the plan of the slots, without the waits that follow from it. The order in a slot is: what can be
/// freed, the transfers as they are planned, what their end frees, the computation. O(steps log steps).
[[nodiscard]] Plan plan_of(const SlotPlan& slotted);

/// When slots begin and computations run, and how much RAM is taken in between.
struct Slots {
  std::vector<double> opens;    // the computation before has ended
  std::vector<double> compute;  // the computation after begins
  std::vector<std::int64_t> ram;
};

/// Returns the times of the plan's slots. `line` is the plan's. O(steps).
[[nodiscard]] Slots slots_of(const Plan& plan, const Timeline& line);

}  // namespace poet
