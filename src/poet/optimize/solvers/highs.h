#pragma once

// HiGHS (highs.dev), if CMake's find_package(highs) found it. With highs.cc, the only file that knows it.

#include <string>

#include "poet/optimize/solvers/solver.h"
#include "poet/optimize/solvers/tell.h"

namespace poet {

[[nodiscard]] bool has_highs();

/// Like cbc_solve: for a child process only. Work is counted in HiGHS's own iterations, looked at between its
/// steps: deterministic as far as HiGHS is, and not the same unit as Cbc's.
void highs_solve(const Model& model, const MipOptions& options, Tell& tell);

/// "HiGHS 1.10.0", or "no HiGHS".
[[nodiscard]] std::string highs_version();

}  // namespace poet
