#pragma once

#include "poet/optimize/outcome.h"

namespace poet {

/// The schedule of least energy within the limits, with a proven bound.
///
/// Small graphs: greedy start, root relaxation, restricted MIP, full MIP with that start. Graphs whose full
/// model would not fit in memory or time: the restricted MIP with the bound of the gap relaxation. Every
/// accepted schedule has been replayed exactly. Deterministic for equal input and options unless the time
/// limit strikes. Throws InputError only for options that contradict each other (published formulation
/// outside the published semantics).
[[nodiscard]] Outcome solve(const SolveRequest& request, const SolveOptions& options = {});

}  // namespace poet
