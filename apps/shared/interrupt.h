#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <thread>

namespace poet::cli {

/// "Ctrl-C", "SIGTERM", "SIGHUP": as users know a request to stop.
[[nodiscard]] const char* request_name(int signal);

/// While it exists, the first Ctrl-C (SIGINT), SIGTERM or SIGHUP only makes interrupted() true; the second
/// ends the process with exit code 130, 143 or 129. A dedicated thread waits for the signal, because solvers
/// install handlers that would intercept it. Create it before other threads, which inherit the blocked
/// signal; threads that libraries start when loaded (OpenBLAS) pass it on. At most one at a time.
class InterruptGuard {
 public:
  /// `first`: the message at the first request.
  explicit InterruptGuard(const char* first = "stopping with what was found so far");
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  InterruptGuard(InterruptGuard&&) = delete;
  InterruptGuard& operator=(InterruptGuard&&) = delete;

  /// Whether a request to stop came. Thread-safe.
  [[nodiscard]] bool interrupted() const { return signal_ != 0; }
  /// Which one came first; 0: none did. Thread-safe.
  [[nodiscard]] int signal() const { return signal_; }

 private:
  void watch();

  const char* first_;
  const sigset_t watched_;
  sigset_t previous_mask_{};
  std::array<struct sigaction, 3> previous_actions_{};
  std::atomic<int> signal_ = 0;
  std::atomic<bool> done_ = false;
  std::thread watcher_;
};

}  // namespace poet::cli
