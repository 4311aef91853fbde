#pragma once

// Solves and places until the addresses of a plan fit the RAM budget: first the best plan's, then costlier
// plans', then those of plans solved with RAM held back.

#include <cstddef>
#include <optional>

#include "poet/base/stop.h"
#include "poet/compile.h"
#include "poet/optimize/large.h"
#include "poet/reserve.h"
#include "poet/solve_once.h"

namespace poet {

/// The request's time limit, and a little time after it for the passes that turn the incumbent into an
/// answer: a plan without addresses is none.
class TimeBudget {
 public:
  explicit TimeBudget(const CompileRequest& request)
      : limit_(stop_of(request.options)), ops_(request.instance.graph.ops.size()) {}

  /// For the search.
  [[nodiscard]] const Stop& limit() const { return limit_; }
  /// For the passes after the search: ends with the limit, but not before the little time after it. Once the
  /// limit is reached, all calls share one end.
  [[nodiscard]] Stop finish() {
    constexpr double kAfterLimit = 0.5;
    // On large graphs the passes that cannot be stopped take much of half a second.
    const double after_cancellation = is_large(ops_) ? 0.05 : 0.15;
    if (!limit_()) return limit_.at_least(kAfterLimit);
    if (!finish_) finish_ = Stop(limit_.cancelled() ? after_cancellation : kAfterLimit);
    return *finish_;
  }

 private:
  Stop limit_;
  std::size_t ops_;
  std::optional<Stop> finish_;
};

/// The last attempt, or another plan of an earlier one, and the reserves that were tried.
struct FittedAttempt {
  Attempt attempt;
  ReserveSearch reserves;
  Bytes reserve{};  // of the attempt

  /// Returns whether there is a plan whose addresses fit.
  [[nodiscard]] bool fits() const { return attempt.has_plan() && attempt.over <= Bytes(0); }
  /// Returns whether a plan was found at all.
  [[nodiscard]] bool found_plan() const { return attempt.has_plan() || reserves.solves() > 1; }
};

/// Solves, lowers, verifies and places, until addresses fit, a plan that fits is good enough, or time is up.
/// Bounds are the first attempt's, which has the whole RAM budget.
[[nodiscard]] FittedAttempt place_until_fits(const CompileRequest& request, TimeBudget& time);

}  // namespace poet
