#pragma once

// The device's problem with instantaneous transfers, and converting its schedules to plans.
//
// A schedule that fits RAM there fits on the device, too: compute waits until a value has left
// (plans_from_scratch.h).

#include <optional>

#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/search/streamed_plan.h"
#include "poet/plan/plan.h"
#include "poet/plan/timing/timeline.h"

namespace poet {

struct SynchronousPlan {
  /// Fits RAM under published semantics, plus scratch memory; empty if the plan comes from a streaming pass.
  Schedule schedule;
  Decisions decided;  // the schedule's; of a streaming pass, where plans are reworked, its steps'
  Plan plan;          // within all limits on the device
  Joules energy{};    // of the plan
};

/// Returns the problem under published semantics with scratch memory. Idle power is charged to computations,
/// and to transfers for the share `waiting` of their time, an estimate of stalls. O(ops + values + edges).
[[nodiscard]] Problem instant_problem(const SolveRequest& request, const SolveOptions& options,
                                      double waiting);

/// Converts steps without waits and frees to a plan whose transfers overlap compute as far as RAM allows;
/// nullopt if it violates a limit. `stop` ends the rounds of planning. Fills `plan` and `energy` only.
/// O(plan_transfers()).
[[nodiscard]] std::optional<SynchronousPlan> synchronous_plan(const SolveRequest& request, const Plan& steps,
                                                              const Stop& stop);
/// Converts a schedule that fits RAM in instant_problem(); also fills `schedule` and `decided`.
[[nodiscard]] std::optional<SynchronousPlan> synchronous_plan(const SolveRequest& request,
                                                              const Problem& instant,
                                                              const Candidate& candidate, const Stop& stop);

/// Returns whether the timeline is within the limits.
[[nodiscard]] bool keeps_limits(const SolveRequest& request, const Timeline& line);

}  // namespace poet
