#pragma once

// The condition for ending a long computation early: a time limit or cancellation. All phases of a solve
// share one value, so that none has a clock or a limit of its own.

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "poet/base/work_clock.h"

namespace poet {

/// Copies are cheap and share the limit. operator() returns whether to stop, so that a Stop can be passed as
/// a `std::function<bool()>`. `cancelled` is called from the thread that polls.
class Stop {
 public:
  /// Never stops.
  Stop() = default;
  /// Stops `seconds` from now, or once `cancelled`, if any, returns true.
  explicit Stop(double seconds, std::function<bool()> cancelled = {})
      : seconds_(seconds), cancelled_(std::move(cancelled)) {}

  [[nodiscard]] bool operator()() const { return expired() || cancelled(); }
  [[nodiscard]] bool expired() const { return remaining() <= 0; }
  [[nodiscard]] bool cancelled() const { return cancelled_ && cancelled_(); }

  /// Returns the seconds (work_clock.h) since the original, of which the others are copies, was made.
  [[nodiscard]] double elapsed() const { return work_seconds() - begin_; }
  /// Returns the seconds left: at most zero once time is up, infinite without a limit.
  [[nodiscard]] double remaining() const { return seconds_ == kForever ? kForever : seconds_ - elapsed(); }

  /// For one phase: stops `seconds` from now, at the latest with this one; cancelled with it.
  [[nodiscard]] Stop at_most(double seconds) const { return until(std::min(seconds_, elapsed() + seconds)); }
  /// For phases that run even after the time limit: stops with this one, but not before `seconds` from now;
  /// cancelled with it.
  [[nodiscard]] Stop at_least(double seconds) const { return until(std::max(seconds_, elapsed() + seconds)); }

  /// Without a time limit; cancelled with this one.
  [[nodiscard]] Stop when_cancelled() const { return until(kForever); }

 private:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  [[nodiscard]] Stop until(double seconds) const {
    Stop other = *this;
    other.seconds_ = seconds;
    return other;
  }

  double begin_ = work_seconds();
  double seconds_ = kForever;  // after `begin_`
  std::function<bool()> cancelled_;
};

}  // namespace poet
