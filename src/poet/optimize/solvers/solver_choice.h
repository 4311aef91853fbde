#pragma once

// Which program searches the trees. Linear programs are always Clp's.

#include <string>

namespace poet {

enum class Solver {
  cbc,    // embedded, the default
  highs,  // embedded, if the build has it
  file,   // any other program, through an MPS file and the solution that it writes
};

/// Who searches the trees that poet itself asks for: Cbc where the user's choice is a program outside.
[[nodiscard]] inline Solver embedded(Solver solver) { return solver == Solver::file ? Solver::cbc : solver; }

/// What Solver::file needs. At least one of `mps` and `command` is given.
struct FileSolver {
  std::string mps;       // where the model goes; empty: a temporary file, for `command`
  std::string solution;  // an answer to the model in `mps`, to be read; empty: none yet
  /// Run by /bin/sh after {mps}, {solution} and {seconds} have been replaced; empty: the user runs the
  /// solver.
  std::string command;
};

}  // namespace poet
