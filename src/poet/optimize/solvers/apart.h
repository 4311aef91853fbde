#pragma once

// Work in a forked child process, watched by its parent.
//
// Why a process: Cbc and Clp look at clocks and handlers between steps that take seconds on large models, and
// a search that is made to stop in the middle ends in wrong bounds, wrong "infeasible" and failed assertions.
// A child is never asked to stop, it is ended. Linux and other POSIX systems. The child has the calling
// thread only, a copy of the parent's memory (pages are shared until written to), standard output closed.

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace poet {

struct ChildMessage {
  int kind = 0;
  std::vector<double> numbers;
};

/// The child's end of the line. Any thread of the child may use it.
class Outbox {
 public:
  explicit Outbox(int descriptor) : descriptor_(descriptor) {}
  /// Blocks while the parent is busy. Ends the process when the parent is gone.
  void send(int kind, const std::vector<double>& numbers);
  /// Ends the process; the work counts as finished.
  [[noreturn]] void leave();

 private:
  std::mutex mutex_;
  int descriptor_;
};

enum class ChildEnd {
  finished,
  stopped,  // by the clock or a callback
  lost,     // it crashed, threw, or was killed
};

struct ChildWatch {
  double time_limit_seconds = 0;
  /// Called for every message in order; false stops, and later messages are dropped.
  std::function<bool(ChildMessage&&)> receive;
  /// Called at least every 20 ms; false stops. Messages that have arrived by then are still received.
  std::function<bool()> keep_going;
};

/// Runs `work` in a child until it returns, is stopped, or dies. The child is gone when this returns, also by
/// an exception of a callback. Throws InternalError if no process can be started. Takes about a millisecond
/// more than the work, for processes of a few megabytes.
[[nodiscard]] ChildEnd run_apart(const std::function<void(Outbox&)>& work, const ChildWatch& watch);

}  // namespace poet
