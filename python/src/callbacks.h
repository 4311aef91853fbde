#pragma once

// Progress and Ctrl-C of what runs without the interpreter's lock.

#include <chrono>
#include <exception>
#include <functional>

#include "poet/optimize/outcome.h"
#include "python/src/bindings.h"

namespace poet::python {

/// Make it, and ask it at the end, with the interpreter's lock; in between the lock is let go. For the thread
/// that made it. In a child that was forked it does nothing: there the lock may be held for ever.
class Callbacks {
 public:
  /// `on_progress`: None, or a function of phase, incumbent, bound, seconds and the joules of the best plan with
  /// addresses (numbers are None before there is one); where it returns False, the work stops.
  explicit Callbacks(py::object on_progress);

  [[nodiscard]] std::function<void(const Progress&)> on_progress();
  /// Whether the work is to stop: Ctrl-C, or a function that raised or said so.
  [[nodiscard]] std::function<bool()> interrupted();

  /// Whether a function said that the work is to stop.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// Raises what a function or Ctrl-C has raised.
  void rethrow() const;

 private:
  void show(const Progress& progress);
  bool poll();

  py::object on_progress_;
  int process_;
  std::chrono::steady_clock::time_point polled_;
  std::exception_ptr failure_;
  bool stopped_ = false;
};

}  // namespace poet::python
