#pragma once

// HiGHS (highs.dev), if CMake's find_package(highs) found it. No file except highs.cc depends on it.

#include <string>

#include "poet/optimize/solvers/solver.h"
#include "poet/optimize/solvers/tell.h"

namespace poet {

[[nodiscard]] bool has_highs();

/// As cbc_solve(), for a child process only. Work is counted in HiGHS's own iterations, checked between its
/// steps: deterministic as far as HiGHS is, and in another unit than Cbc's.
void highs_solve(const Model& model, const MipOptions& options, Tell& tell);

/// "HiGHS 1.10.0", or "no HiGHS".
[[nodiscard]] std::string highs_version();

}  // namespace poet
