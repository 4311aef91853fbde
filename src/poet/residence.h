#pragma once

// Which persistent values live on storage: compile() for one choice after another.

#include "poet/compile.h"

namespace poet {

/// compile() of a request with `choose_paged`: with all of them resident, for half of the time; then with
/// those resident that a relaxation over every choice has so, and with sets by rules, until the best is
/// proven or time is up. Bounds hold for every choice.
[[nodiscard]] CompileResult compile_best_residence(const CompileRequest& request);

}  // namespace poet
