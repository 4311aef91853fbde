#pragma once

// What incumbents become once their transfers are planned.
//
// A staged schedule holds a transfer's RAM during whole stages; as a plan, its transfers run at better
// moments and compute waits less. Which incumbent makes the best plan is not always the best one, and a plan
// may be proven good enough long before its schedule is.

#include <optional>
#include <utility>

#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/candidate.h"

namespace poet {

class PlannedTransfers {
 public:
  /// What the arguments refer to must outlive this.
  PlannedTransfers(const SolveRequest& request, const Problem& problem, Stop stop)
      : request_(request), problem_(problem), stop_(std::move(stop)) {}

  /// Plans the transfers of `candidate`, which must be within the limits, and keeps the plan if it is the
  /// best so far. O(plan_transfers()).
  void consider(const Candidate& candidate);

  [[nodiscard]] const std::optional<PlannedSchedule>& best() const { return best_; }

 private:
  const SolveRequest& request_;
  const Problem& problem_;
  Stop stop_;  // of the rounds of planning
  std::optional<PlannedSchedule> best_;
};

}  // namespace poet
