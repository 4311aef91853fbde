#pragma once

#include <csignal>

namespace poet::cli {

/// While it exists, SIGINT (Ctrl-C), SIGTERM and SIGHUP stay pending and are polled: for single-threaded code
/// that forks. (InterruptGuard is for code that computes.) Threads created meanwhile inherit the blocked
/// signals.
class PendingSignals {
 public:
  PendingSignals();
  ~PendingSignals();
  PendingSignals(const PendingSignals&) = delete;
  PendingSignals& operator=(const PendingSignals&) = delete;
  PendingSignals(PendingSignals&&) = delete;
  PendingSignals& operator=(PendingSignals&&) = delete;

  /// Whether one of them has arrived.
  [[nodiscard]] bool any();

 private:
  sigset_t watched_{};
  sigset_t previous_{};
  bool came_ = false;
};

}  // namespace poet::cli
