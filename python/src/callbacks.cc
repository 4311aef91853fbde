#include "python/src/callbacks.h"

#include <pybind11/stl.h>
#include <unistd.h>

#include <utility>

namespace poet::python {

Callbacks::Callbacks(py::object on_progress) : on_progress_(std::move(on_progress)), process_(getpid()) {}

std::function<void(const Progress&)> Callbacks::on_progress() {
  if (on_progress_.is_none()) return {};
  return [this](const Progress& progress) { show(progress); };
}

std::function<bool()> Callbacks::interrupted() {
  return [this] { return poll(); };
}

void Callbacks::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

void Callbacks::show(const Progress& progress) {
  if (stopped_ || getpid() != process_) return;
  const py::gil_scoped_acquire lock;
  try {
    const py::object answer = on_progress_(progress.phase, progress.incumbent_joules, progress.bound_joules,
                                           progress.elapsed_seconds, progress.plan_joules);
    stopped_ = answer.is(py::bool_(false));
  } catch (const py::error_already_set&) {
    failure_ = std::current_exception();
    stopped_ = true;
  }
}

bool Callbacks::poll() {
  constexpr auto kRest = std::chrono::milliseconds(50);
  if (stopped_ || getpid() != process_) return stopped_;
  const auto now = std::chrono::steady_clock::now();
  if (now - polled_ < kRest) return false;
  polled_ = now;
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return false;
  try {
    throw py::error_already_set();
  } catch (const py::error_already_set&) {
    failure_ = std::current_exception();
    stopped_ = true;
  }
  return true;
}

}  // namespace poet::python
