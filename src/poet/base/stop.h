#pragma once

// When a long computation is to end early: its time is up, or somebody cancels it. One value goes through all
// phases of a solve, so that none of them has a clock or a limit of its own.

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

namespace poet {

/// Copies are cheap and end together. Called, it says whether to stop, so that it serves wherever a
/// `std::function<bool()>` is polled. `cancelled` is called from the thread that polls.
class Stop {
 public:
  /// Never.
  Stop() = default;
  /// `seconds` from now, or as soon as `cancelled`, if there is one, says so.
  explicit Stop(double seconds, std::function<bool()> cancelled = {})
      : seconds_(seconds), cancelled_(std::move(cancelled)) {}

  [[nodiscard]] bool operator()() const { return expired() || cancelled(); }
  [[nodiscard]] bool expired() const { return remaining() <= 0; }
  [[nodiscard]] bool cancelled() const { return cancelled_ && cancelled_(); }

  /// Since the first one was made, which the others come from.
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  /// At most zero when time is up; infinite without a limit.
  [[nodiscard]] double remaining() const { return seconds_ == kForever ? kForever : seconds_ - elapsed(); }

  /// For one phase: `seconds` from now, but no later than this one; cancelled with it.
  [[nodiscard]] Stop at_most(double seconds) const { return until(std::min(seconds_, elapsed() + seconds)); }
  /// For what must be tried even when time is up: with this one, but not before `seconds` from now; cancelled
  /// with it.
  [[nodiscard]] Stop at_least(double seconds) const { return until(std::max(seconds_, elapsed() + seconds)); }

  /// Only cancelled with this one, whatever the time.
  [[nodiscard]] Stop when_cancelled() const { return until(kForever); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  [[nodiscard]] Stop until(double seconds) const {
    Stop other = *this;
    other.seconds_ = seconds;
    return other;
  }

  Clock::time_point begin_ = Clock::now();
  double seconds_ = kForever;  // after `begin_`
  std::function<bool()> cancelled_;
};

}  // namespace poet
