#pragma once

// Messages from a MIP solver in its child process to the parent.

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "poet/base/process/child.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {

// Solvers run in a child because Cbc and Clp check clocks and handlers only between steps that take seconds
// on large models, and interrupted searches end in wrong bounds, wrong "infeasible" and failed assertions. A
// child is never asked to stop; it is killed. It runs only the solver and these two files, which use no state
// that another thread of the parent may be changing.

/// The solver's output is discarded.
inline constexpr ChildSettings kSolverChild{Streams::none, false, {}};

/// Encode numbers as a message and decode them.
[[nodiscard]] std::string to_message(const std::vector<double>& numbers);
[[nodiscard]] std::vector<double> to_numbers(const std::string& message);

/// The child's side. Objectives and bounds include the cost constant. Thread-safe.
class Tell {
 public:
  explicit Tell(Parent& parent) : parent_(parent) {}

  /// Reports a solution, if it is better than all before. Solvers accept values within 1e-6 of an integer;
  /// they are rounded if the rows allow it.
  void incumbent(const Model& model, const double* x);
  /// Reports a global bound and the nodes searched, if either has changed.
  void progress(double bound, long nodes, long work);
  /// Reports that the solver has ended by itself, or by a limit that it observes.
  void result(MipStatus status, double bound, long nodes, long work);
  /// Ends the process at the work limit. Earlier reports count.
  [[noreturn]] void out_of_work(long nodes, long work);

 private:
  std::mutex mutex_;
  Parent& parent_;
  double objective_ = kInfinity;
  double bound_ = -kInfinity;
  long nodes_ = 0;
};

/// Runs `solver` in a child and collects its reports until it ends or is stopped.
[[nodiscard]] MipResult gather(const MipOptions& options, const std::function<void(Tell&)>& solver);

}  // namespace poet
