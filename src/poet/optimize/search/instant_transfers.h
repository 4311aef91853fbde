#pragma once

// A device's problem with transfers that take no time, and the plans that its schedules become.
//
// What fits RAM there fits it on the device as well: compute waits until a value has left (synchronous.h).

#include <optional>

#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/search/streamed_plan.h"
#include "poet/plan/plan.h"
#include "poet/plan/timing/timeline.h"

namespace poet {

struct SynchronousPlan {
  /// Obeys RAM under published semantics, scratch memory besides; none where the plan comes from a stream.
  Schedule schedule;
  Decisions decided;            // the schedule's; of a stream, unless it is large, what its steps say
  Plan plan;                    // obeys every limit on the device
  Joules energy{};              // of the plan
  double seconds_to_first = 0;  // since the search began, until there was any plan
  /// Of large problems: costlier than `plan`, but with addresses, which are hard to find afterwards where RAM
  /// holds a handful of values.
  std::optional<PlacedPlan> placed;
};

/// Published semantics, with scratch memory. Idle power is charged to computations, and to transfers for the
/// part `waiting` of their time: a guess at how long compute waits for them. O(ops + values + edges).
[[nodiscard]] Problem instant_problem(const SolveRequest& request, const SolveOptions& options,
                                      double waiting);

/// Of steps without waits and frees: their transfers moved beside compute as far as RAM allows. Nothing where
/// that breaks a limit. `stop` ends the rounds of planning. `schedule`, `decided`, `placed` and
/// `seconds_to_first` are left empty. O(plan_transfers()).
[[nodiscard]] std::optional<SynchronousPlan> synchronous_plan(const SolveRequest& request, const Plan& steps,
                                                              const Stop& stop);
/// Of a schedule that fits RAM in instant_problem(); with `schedule` and `decided`.
[[nodiscard]] std::optional<SynchronousPlan> synchronous_plan(const SolveRequest& request,
                                                              const Problem& instant,
                                                              const Candidate& candidate, const Stop& stop);

/// Whether the timeline keeps the limits.
[[nodiscard]] bool keeps_limits(const SolveRequest& request, const Timeline& line);

}  // namespace poet
