#pragma once

// Turns incumbents into plans by scheduling their transfers.
//
// A staged schedule holds a transfer's RAM during whole stages; in its plan, transfers start at better steps
// and compute waits less. The best incumbent does not always make the best plan, and a plan may be proven
// good enough long before its schedule is.

#include <optional>
#include <utility>

#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/candidate.h"

namespace poet {

class PlannedTransfers {
 public:
  /// The request's instance and `problem` must outlive this.
  PlannedTransfers(const SolveRequest& request, const Problem& problem, Stop stop)
      : request_(request), problem_(problem), stop_(std::move(stop)) {}

  /// Plans the transfers of `candidate`, which must be within the limits, and keeps the plan if it is the
  /// cheapest so far. O(plan_transfers()).
  void consider(const Candidate& candidate);

  [[nodiscard]] const std::optional<PlannedSchedule>& best() const { return best_; }

 private:
  const SolveRequest request_;
  const Problem& problem_;
  Stop stop_;  // ends the rounds of planning
  std::optional<PlannedSchedule> best_;
};

}  // namespace poet
