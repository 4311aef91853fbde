#pragma once

// One time limit and one cancellation for a whole compile(), and what each part of it may take.

#include <algorithm>
#include <optional>

#include "poet/base/stop.h"
#include "poet/optimize/options.h"

namespace poet {

/// All effort of the search is counted in work: these are the only figures of time.
struct TimeShares {
  double splitting_per_op = 1e-4;  // s; splitting does not ask the clock, and begins only with so much left
  // After the limit, and after a cancellation, for the passes that turn what was found into an answer.
  double after_limit = 0.4;          // s
  double after_cancellation = 0.15;  // s
};
inline constexpr TimeShares kShares;

class Clock {
 public:
  /// Begins now.
  explicit Clock(const SolveOptions& options) : limit_(stop_of(options)) {}

  /// The time limit and the cancellation.
  [[nodiscard]] const Stop& limit() const { return limit_; }
  /// For the passes after the search: ends with the limit, but not before a moment after it. Once the limit
  /// is reached, all calls share one end.
  [[nodiscard]] Stop finish() {
    if (!limit_()) return limit_.at_least(kShares.after_limit);
    if (!finish_)
      finish_ = limit_.cancelled() ? Stop(kShares.after_cancellation) : limit_.at_least(kShares.after_limit);
    return *finish_;
  }

 private:
  Stop limit_;
  std::optional<Stop> finish_;
};

}  // namespace poet
