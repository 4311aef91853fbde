#pragma once

// Place: plans until there is one whose addresses fit the RAM budget. Where those of the best plan do not,
// plans that need more energy are tried, and the passes again with RAM in reserve.

#include <cstddef>
#include <optional>

#include "poet/attempt.h"
#include "poet/base/stop.h"
#include "poet/compile.h"
#include "poet/optimize/large.h"
#include "poet/reserve.h"

namespace poet {

/// The request's time, and a little more in which an answer is made of what was found: without addresses
/// there is none.
class Time {
 public:
  explicit Time(const CompileRequest& request)
      : limit_(stop_of(request.options)), ops_(request.instance.graph.ops.size()) {}

  /// For the search.
  [[nodiscard]] const Stop& limit() const { return limit_; }
  /// For what follows it: the same, or what is left of the little more once the limit is reached.
  [[nodiscard]] Stop finish() {
    constexpr double kAfterLimit = 0.5;
    // Of large graphs the other passes take much of half a second.
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

/// The last attempt, or an earlier one's other plan, and the reserves that led to it.
struct Fit {
  Attempt attempt;
  ReserveSearch reserves;
  Bytes reserve{};  // of the attempt

  [[nodiscard]] bool found() const { return !attempt.plan.steps.empty() && attempt.over <= Bytes(0); }
  [[nodiscard]] bool has_plan() const { return !attempt.plan.steps.empty() || reserves.solves() > 1; }
};

/// Solves, lowers, verifies and places, until addresses fit, an answer that does is good enough, or time is
/// up. Bounds are the first attempt's: on what the whole budget allows.
[[nodiscard]] Fit fit(const CompileRequest& request, Time& time);

}  // namespace poet
