#pragma once

// The interface to solvers of linear and mixed-integer programs, and the only one in poet.
//
// Solvers run in a child process, forked for the call and ended with it (base/process/child.h). So a call
// returns in time whatever the solver is doing, a crash loses only the solver's answer, and its memory is
// released. Callbacks are called from the calling thread.

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
  std::vector<Linear> cuts;  // the cuts added (see LpOptions) that are tight in x
};

struct LpOptions {
  double time_limit_seconds = 60;
  long work_limit = -1;        // simplex iterations; negative: none
  std::function<bool()> stop;  // polled every 20 ms
  /// Lets Clp perturb costs when it stalls: several times faster on large degenerate programs; may end in
  /// another optimal vertex.
  bool perturb = false;
  /// Returns cuts violated by x: expressions that are at least 1 at every relevant point. Called repeatedly,
  /// with a warm-started solve in between, until it returns none or the objective hardly rises. Called in the
  /// solver's process.
  std::function<std::vector<Linear>(const std::vector<double>& x)> cuts;
};

enum class MipStatus { optimal, feasible, infeasible, unknown };

struct MipResult {
  MipStatus status = MipStatus::unknown;
  double objective = 0;  // of x; cost constant included
  /// A lower bound on the cost of every point; with a cutoff, of points below the cutoff.
  double bound = -kInfinity;
  std::vector<double> x;
  long nodes = 0;
  long work = 0;               // simplex iterations as far as reported
  bool solver_failed = false;  // it crashed or gave up; the result is its last report
};

struct MipOptions {
  double time_limit_seconds = 60;
  long node_limit = -1;  // negative: none
  /// Limit on simplex iterations of all linear programs: root, cuts, heuristics, tree. Negative: none. It
  /// makes effort deterministic: calls with equal model and options end at the same
  /// iteration with the same result, unless the time limit or keep_going ends them first. Work between
  /// iterations (presolve, cut separation) is not counted, so seconds per iteration vary.
  long work_limit = -1;
  double relative_gap = 0;  // stop when objective - bound <= this * |objective|
  double absolute_gap = 0;
  double cutoff = kInfinity;  // only solutions below this are searched for
  /// CBC: probing, which saves much when the tree is to be closed. If CBC crashes with it (2.10.8: on crossed
  /// bounds), it runs again without.
  bool probing = true;
  bool heuristics = true;  // CBC's own, for solutions
  /// (column, value): a known solution's integer columns; may be empty.
  std::vector<std::pair<int, double>> start;
  /// Returning false stops the solver. Called with each report of the solver, in order, and at least every 20
  /// ms. If it depends on its arguments alone, the result does not depend on the machine's speed.
  std::function<bool(double objective, double bound)> keep_going;
  Solver solver = Solver::cbc;
  FileSolver file;  // for Solver::file: `command` must be given
};

/// Solves the linear relaxation by Clp's dual simplex. Deterministic. LpStatus::stopped when stopped, at the
/// time limit, above the work limit, and for unbounded models; with cuts, the last optimum reached counts
/// instead, if there is one. Returns within 0.5 s of either limit.
[[nodiscard]] LpResult solve_lp(const Model& model, const LpOptions& options);
[[nodiscard]] LpResult solve_lp(const Model& model, double time_limit_seconds,
                                const std::function<bool()>& stop = {}, long work_limit = -1);

/// Solves the mixed-integer program. Deterministic unless the time limit, `keep_going` or a second thread
/// interferes. Returns within 0.5 s of the time limit or of keep_going returning false, whatever the solver
/// is doing, with its best solution and its last global bound. Never reports an unfinished search as optimal
/// or infeasible. Unbounded models are unknown.
///
/// Solver::file: the answer is checked against the model and is feasible or unknown, never optimal or
/// infeasible, as a solution file proves neither.
///
/// Throws InputError if options.solver cannot be used: it is not in this build, or its command fails.
[[nodiscard]] MipResult solve_mip(const Model& model, const MipOptions& options);

/// Returns the message for a build without HiGHS.
[[nodiscard]] const char* no_highs();

/// Returns whether this build has the solver; true for Solver::file.
[[nodiscard]] bool has_solver(Solver solver);

/// "CBC 2.10.8", "HiGHS 1.10.0", "MPS file, bound by CBC 2.10.8".
[[nodiscard]] std::string solver_version(Solver solver);

/// Returns the largest violation of the model's bounds, rows and integrality by x; infinite for x of another
/// size.
[[nodiscard]] double violation(const Model& model, const std::vector<double>& x);

}  // namespace poet
