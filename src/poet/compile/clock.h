#pragma once

// One time limit and one cancellation for a whole compile().

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "poet/base/stop.h"
#include "poet/base/time_shares.h"
#include "poet/optimize/options.h"

namespace poet {

class Clock {
 public:
  /// Begins now. The caller's callbacks are called by this thread alone: to others, the search is cancelled
  /// once this one has seen it.
  explicit Clock(const SolveOptions& options)
      : limit_(options.time_limit_seconds, [this, asked = options.interrupted] {
          if (asked && is_callers_thread() && asked()) cancelled_ = true;
          return cancelled_.load();
        }) {}
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  [[nodiscard]] bool is_callers_thread() const { return std::this_thread::get_id() == callers_; }
  /// The time limit and the cancellation.
  [[nodiscard]] const Stop& limit() const { return limit_; }
  /// For the passes after the search: ends a moment after the limit. Once the limit is reached, all calls
  /// share one end, which is not yet.
  [[nodiscard]] Stop finish() {
    if (!limit_()) return limit_.at_least(limit_.remaining() + kShares.after_limit);
    const std::lock_guard lock(mutex_);
    if (!finish_ && limit_.cancelled()) finish_ = Stop(kShares.after_cancellation);
    if (!finish_)
      finish_ =
          limit_.at_least(std::max(kShares.after_cancellation, limit_.remaining() + kShares.after_limit));
    return *finish_;
  }

 private:
  const std::thread::id callers_ = std::this_thread::get_id();
  std::atomic<bool> cancelled_{false};
  const Stop limit_;
  std::mutex mutex_;
  std::optional<Stop> finish_;
};

}  // namespace poet
