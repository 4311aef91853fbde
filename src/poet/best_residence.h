#pragma once

// Which persistent values live on storage: compile() for one choice after another.

#include "poet/compile.h"

namespace poet {

/// Implements compile() for a request with `choose_paged`. Compiles with every persistent value resident, for
/// half of the time; then with the set paged in the solution of a relaxation over all choices, and with sets
/// chosen by rules (optimize/problem/residence.h), until the best plan is proven or time is up. Bounds hold
/// for every choice.
[[nodiscard]] CompileResult compile_best_residence(const CompileRequest& request);

}  // namespace poet
