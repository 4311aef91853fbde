#pragma once

// Solve and lower: from a posed problem to a verified plan, as yet without addresses.

#include <optional>
#include <vector>

#include "poet/base/stop.h"
#include "poet/compile.h"
#include "poet/optimize/search/streamed_plan.h"
#include "poet/optimize/search/synchronous.h"

namespace poet {

/// What the passes make of the problem with a part of its RAM budget in reserve.
struct Attempt {
  Outcome outcome;  // of the search for staged schedules
  Plan plan;        // empty without an answer; so is what follows
  Decisions
      decided;  // the plan's, of the instance with loads where that was searched; none where it has none
  bool synchronous = false;
  Report report;
  Report schedule_report;
  Layout layout;
  Bytes over{};                         // how much more RAM its addresses need than there is
  std::vector<SynchronousPlan> others;  // that need more energy, the least first
  std::optional<PlacedPlan> placed;     // another plan, mostly costlier, whose addresses fit
};

/// Solves the request with so much RAM in reserve (with_reserve()), within `search`; its best plan, verified,
/// or none. `options`: the request's, which may tell somebody else.
[[nodiscard]] Attempt solve_and_lower(const CompileRequest& request, SolveOptions options, Bytes reserve,
                                      const Stop& search);

/// Makes this plan the attempt's, which is not verified then.
void use_synchronous(const Instance& instance, SynchronousPlan synchronous, Attempt& made);

/// The reports of the attempt's plan. Throws InternalError where the verifier rejects it.
void verify_plan(const CompileRequest& request, Attempt& made);

/// Whether plans are sought that are no staged schedules.
[[nodiscard]] bool searches_synchronous(const CompileRequest& request);

/// Whether persistent values are paged, so that no staged schedule says what the plan does.
[[nodiscard]] bool has_paged(const Instance& instance);

}  // namespace poet
