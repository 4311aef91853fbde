#pragma once

// Solve and lower: from a posed problem to a verified plan, without addresses yet.

#include <optional>
#include <vector>

#include "poet/base/stop.h"
#include "poet/compile.h"
#include "poet/optimize/search/streamed_plan.h"
#include "poet/optimize/search/synchronous.h"

namespace poet {

/// The result of one solve, with part of the RAM budget held back as a reserve.
struct Attempt {
  Outcome outcome;  // of the search for staged schedules
  Plan plan;        // empty if none was found
  /// Of the plan; where persistent values are paged, of the instance with loads (problem/loads.h). Empty
  /// without a plan, and for some plans.
  Decisions decided;
  bool synchronous = false;
  Report report;           // of the plan, once verified
  Report schedule_report;  // of its staged schedule, once verified
  Layout layout;           // once placed
  Bytes over{};            // RAM that the layout needs beyond the budget; negative: what it leaves free
  // May be set without a plan, too.
  std::vector<SynchronousPlan> others;  // costlier plans, by increasing energy
  std::optional<PlacedPlan> placed;     // another plan whose addresses fit, mostly costlier

  [[nodiscard]] bool has_plan() const { return !plan.steps.empty(); }
};

/// Solves with `reserve` bytes of the RAM budget held back (with_reserve()). Returns the best verified plan,
/// or an empty one. `options` replaces the request's, e.g. with another progress callback.
[[nodiscard]] Attempt solve_once(const CompileRequest& request, SolveOptions options, Bytes reserve,
                                 const Stop& search);

/// Replaces the attempt's plan; call verify_plan() afterwards.
void use_synchronous(const Instance& instance, SynchronousPlan synchronous, Attempt& made);

/// Fills the reports of the attempt's plan. Throws RejectedPlan (verify/accepted.h).
void verify_plan(const CompileRequest& request, Attempt& made);

/// Returns whether plans with synchronous paging, which are not staged schedules, are searched for.
[[nodiscard]] bool searches_synchronous(const CompileRequest& request);

/// Returns whether persistent values are paged. No staged schedule describes such a plan.
[[nodiscard]] bool has_paged(const Instance& instance);

}  // namespace poet
