#pragma once

// What a solver in its child process says of a mixed-integer program, and what the parent makes of it.

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "poet/base/process/child.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {

// Why a process: Cbc and Clp look at clocks and handlers between steps that take seconds on large models, and
// a search that is made to stop in the middle ends in wrong bounds, wrong "infeasible" and failed assertions.
// A child is never asked to stop, it is ended. In the child run the solver and these two files alone, which
// use nothing that another thread of the parent could be in the middle of.

/// Solvers print what they like: not on our streams.
inline constexpr ChildSettings kSolverChild{Streams::none, false, {}};

/// Numbers as a message, and back.
[[nodiscard]] std::string to_message(const std::vector<double>& numbers);
[[nodiscard]] std::vector<double> to_numbers(const std::string& message);

/// The child's side. Objectives and bounds with the cost constant. Any thread may use it.
class Tell {
 public:
  explicit Tell(Parent& parent) : parent_(parent) {}

  /// A solution. Told on only if it is better than all before. Solvers take for an integer what is within
  /// 1e-6 of one: it is rounded where the rows allow it.
  void incumbent(const Model& model, const double* x);
  /// A bound on the whole model, and nodes searched. Told on only if something has changed.
  void progress(double bound, long nodes, long work);
  /// The solver has ended by itself, or by a limit that it keeps itself.
  void result(MipStatus status, double bound, long nodes, long work);
  /// The work limit has been reached: ends the process. What was told before counts.
  [[noreturn]] void out_of_work(long nodes, long work);

 private:
  std::mutex mutex_;
  Parent& parent_;
  double objective_ = kInfinity;
  double bound_ = -kInfinity;
  long nodes_ = 0;
};

/// Runs `solver` in a child and gathers what it tells until it ends or is stopped.
[[nodiscard]] MipResult gather(const MipOptions& options, const std::function<void(Tell&)>& solver);

}  // namespace poet
