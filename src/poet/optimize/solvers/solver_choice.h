#pragma once

// The choice of the MIP solver. Linear programs are always solved by Clp.

#include <string>

namespace poet {

enum class Solver {
  cbc,    // embedded, the default
  highs,  // embedded, if the build has it
  file,   // any other program, through an MPS file and the solution that it writes
};

/// Returns the solver of poet's own MIPs: Cbc if the user's choice is an external program.
[[nodiscard]] inline Solver embedded(Solver solver) { return solver == Solver::file ? Solver::cbc : solver; }

/// The files of Solver::file. At least one of `mps` and `command` must be set.
struct FileSolver {
  std::string mps;       // file for the model; empty: a temporary file, for `command`
  std::string solution;  // file with an answer to the model in `mps`; empty: none yet
  /// Run by /bin/sh after {mps}, {solution} and {seconds} have been replaced; empty: the user runs the
  /// solver.
  std::string command;
};

}  // namespace poet
