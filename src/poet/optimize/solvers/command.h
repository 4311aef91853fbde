#pragma once

// External solvers: MPS file in, solution file out (Solver::file).

#include <functional>
#include <string>
#include <vector>

#include "poet/optimize/solvers/mps.h"
#include "poet/optimize/solvers/solver.h"

namespace poet {

/// Runs options.file.command on the model and checks its answer; see solve_mip. Gap, cutoff, start, node and
/// work limits are not passed on, the time limit is. Throws like ask_command.
[[nodiscard]] MipResult solve_by_command(const Model& model, const MipOptions& options);

/// Writes the model to files.mps, runs files.command on it and reads its answer from files.solution; a file
/// without a name is temporary. The command is run by /bin/sh; its output is discarded. When time is up or
/// keep_going returns false, a solution file written by then is read if possible. Throws InputError if the
/// command cannot be run, or ends without a readable solution file, and if the model cannot be written.
[[nodiscard]] SolutionFile ask_command(const Model& model, const ColumnNames& names,
                                       const std::vector<std::string>& comments, const FileSolver& files,
                                       double time_limit_seconds, const std::function<bool()>& keep_going);

/// Returns `command` with {mps}, {solution} and {seconds} (rounded down, at least 1) replaced; file names
/// are quoted for the shell. Throws InputError unless {mps} and {solution} occur.
[[nodiscard]] std::string expand_command(const std::string& command, const std::string& mps,
                                         const std::string& solution, double seconds);

}  // namespace poet
