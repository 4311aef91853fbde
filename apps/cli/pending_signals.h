#pragma once

#include <csignal>

namespace poet::cli {

/// While one lives, SIGINT (Ctrl-C), SIGTERM and SIGHUP do nothing but wait to be asked for: for programs
/// that have a single thread, fork, and look around often. (InterruptGuard is for those that compute.)
/// Threads that are made meanwhile, by libraries too, leave these signals alone.
class PendingSignals {
 public:
  PendingSignals();
  ~PendingSignals();
  PendingSignals(const PendingSignals&) = delete;
  PendingSignals& operator=(const PendingSignals&) = delete;
  PendingSignals(PendingSignals&&) = delete;
  PendingSignals& operator=(PendingSignals&&) = delete;

  /// Whether one of them has come, ever.
  [[nodiscard]] bool any();

 private:
  sigset_t watched_{};
  sigset_t previous_{};
  bool came_ = false;
};

}  // namespace poet::cli
