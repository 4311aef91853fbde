#pragma once

// Linear and mixed-integer programs solved, whoever solves them. The only way from the rest of poet to a
// solver.
//
// Solvers run in a process of their own, forked for the call and ended with it (base/process/child.h). So a
// call returns when it is to, whatever the solver is doing; a crash inside the solver costs its answer and
// nothing else; and what it allocated is gone. Callbacks are called from the calling thread.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "poet/optimize/milp/model.h"
#include "poet/optimize/solvers/solver_choice.h"

namespace poet {

enum class LpStatus { optimal, infeasible, stopped };

struct LpResult {
  LpStatus status = LpStatus::stopped;
  double objective = 0;  // cost constant included
  std::vector<double> x;
  std::vector<double> reduced_costs;
  long work = 0;             // simplex iterations
  std::vector<Linear> cuts;  // that were added (see LpOptions) and are tight in x
};

struct LpOptions {
  double time_limit_seconds = 60;
  long work_limit = -1;        // simplex iterations; negative: none
  std::function<bool()> stop;  // polled every 20 ms
  /// Lets Clp perturb costs where it stalls: several times faster on large degenerate programs, another
  /// vertex where there are several.
  bool perturb = false;
  /// Rows that every point wanted satisfies and x does not: each must be at least 1. Asked again and again,
  /// the program solved anew from where it stood, until there is none or the objective hardly rises. Called
  /// in the solver's process.
  std::function<std::vector<Linear>(const std::vector<double>& x)> cuts;
};

enum class MipStatus { optimal, feasible, infeasible, unknown };

struct MipResult {
  MipStatus status = MipStatus::unknown;
  double objective = 0;  // of x; cost constant included
  double bound =
      -kInfinity;  // no point of the model costs less; with a cutoff: none that is below the cutoff
  std::vector<double> x;
  long nodes = 0;
  long work = 0;               // simplex iterations as far as reported
  bool solver_failed = false;  // it crashed or gave up; what is reported is what it had said before
};

struct MipOptions {
  double time_limit_seconds = 60;
  long node_limit = -1;  // negative: none
  /// Simplex iterations of all linear programs together: root, cuts, heuristics, tree. Negative: none. Where
  /// two calls agree in model and options and one thread solves, they end at the same iteration with the same
  /// result, if neither clock nor keep_going ends them before: a limit on effort that needs no clock. The
  /// work between iterations (presolve, cut separation) is not counted, so seconds per iteration vary.
  long work_limit = -1;
  double relative_gap = 0;  // stop when objective - bound <= this * |objective|
  double absolute_gap = 0;
  double cutoff = kInfinity;  // only solutions below this are wanted
  int threads = 1;
  /// CBC: probing, a large saving where a tree is to be closed. When CBC crashes with it (2.10.8: on bounds
  /// that it has crossed) it runs again without.
  bool probing = true;
  bool heuristics = true;  // CBC's own, for solutions
  std::vector<std::pair<int, double>>
      start;  // (column, value): a known solution's integer columns; may be empty
  /// False stops. Called with whatever news the solver has, in its order, and at least every 20 ms. Where it
  /// depends on its arguments alone, what is returned does not depend on the machine's speed.
  std::function<bool(double objective, double bound)> keep_going;
  Solver solver = Solver::cbc;
  FileSolver file;  // for Solver::file: `command` must be given
};

/// The linear relaxation, by Clp's dual simplex. Deterministic. LpStatus::stopped where `stop` says so, at
/// the time limit, at more iterations than the work limit, and for unbounded models; with cuts, what was
/// reached before the last of them counts if there is something. Returns within 0.5 s of either limit.
[[nodiscard]] LpResult solve_lp(const Model& model, const LpOptions& options);
[[nodiscard]] LpResult solve_lp(const Model& model, double time_limit_seconds,
                                const std::function<bool()>& stop = {}, long work_limit = -1);

/// The mixed-integer program. Deterministic unless clock, `keep_going` or a second thread interferes. Returns
/// within 0.5 s of the time limit and of keep_going's false, whatever the solver is doing, with its best
/// solution and its last global bound. Never reports an unfinished search as optimal or infeasible. Unbounded
/// models are unknown.
///
/// Solver::file: the answer is checked against the model and is feasible or unknown, never optimal or
/// infeasible: nothing in a solution file can be checked that would prove either.
///
/// Throws InputError where options.solver cannot be used: not in this build, or a command that fails.
[[nodiscard]] MipResult solve_mip(const Model& model, const MipOptions& options);

/// What there is to say where HiGHS is asked for and not there.
[[nodiscard]] const char* no_highs();

/// Whether this build has it. True for Solver::file.
[[nodiscard]] bool has_solver(Solver solver);

/// "CBC 2.10.8", "HiGHS 1.10.0", "MPS file, bound by CBC 2.10.8".
[[nodiscard]] std::string solver_version(Solver solver);

/// How much x is out of the model's bounds, rows and integrality, at most; infinite for x of another size.
[[nodiscard]] double violation(const Model& model, const std::vector<double>& x);

}  // namespace poet
