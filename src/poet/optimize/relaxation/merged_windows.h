#pragma once

// Cuts of the window relaxation from merging windows. Its linear relaxation can restore a value by half a
// recomputation in each of two windows, with half of the operands; in the merged window all operands are
// needed. Both hold for every plan (docs/bounds.md).

#include <vector>

#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// Of breakpoint k, a later window e, a value u0 that is next read in e, and a chain u0, u1, ..., um in which
/// p(ui) reads u(i+1) and all were made by then:
///   sum of kept[k,ui] + sum over the windows k < j <= e of ( sum of page_in[j,ui] + recompute[j,p(um)] )  >=
///   1
/// as some ui is in RAM at the breakpoint, or comes from storage, or all are recomputed. The most violated
/// ones, each to be at least 1, at most one for each u0, k and e. O(windows^2 * edges + windows^3 * (ops +
/// values)).
[[nodiscard]] std::vector<Linear> merged_window_cuts(const Problem& problem, const StageWindows& windows,
                                                     const WindowModel& model, const std::vector<double>& x);

}  // namespace poet
