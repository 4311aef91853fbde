#pragma once

// COIN-OR Clp and Cbc. No file except cbc.cc depends on them.

#include <string>

#include "poet/optimize/solvers/solver.h"
#include "poet/optimize/solvers/tell.h"

namespace poet {

/// Runs Cbc with its cuts and heuristics in this process, ignoring the time limit and keep_going: for a child
/// process only. options.work_limit ends the process.
void cbc_solve(const Model& model, const MipOptions& options, Tell& tell);

/// "CBC 2.10.8".
[[nodiscard]] std::string cbc_version();

}  // namespace poet
