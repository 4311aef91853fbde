#pragma once

// RAM while something is recomputed. The window relaxation counts RAM while breakpoint ops are computed for
// the first time; between them, what is in RAM from one breakpoint to the next is there when an op is
// recomputed as well.

#include <vector>

#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// Of a window k that ends with op t, an op i and any set of values v that i neither reads nor writes:
///   W(i) recompute[k,i]  +  sum of b_v stays[k,v]  <=  budget
///   stays[k,v] = kept[k-1,v] + kept[k,v] - 1 - recompute[k,p(v)] - page_in[k,v]      where t does not read v
///              = kept[k-1,v] - recompute[k,p(v)] - page_in[k,v]                      where it does
/// Holds for every plan (docs/bounds.md): stays is 1 only of values that are in RAM
/// throughout the window, and never more. The rows that x breaks by more than `least` of the budget, with the
/// values of which stays is positive, in the form that each is to be at least 1. For problems without
/// residents, whose bytes it does not know. O(windows * (values + edges)).
[[nodiscard]] std::vector<Linear> recomputation_ram_cuts(const Problem& problem, const StageWindows& windows,
                                                         const WindowModel& model,
                                                         const std::vector<double>& x, double least);

}  // namespace poet
