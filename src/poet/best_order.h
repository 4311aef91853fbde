#pragma once

// In which order ops are first computed: compile() for the graph's and for another one.

#include "poet/compile.h"

namespace poet {

/// compile() of a request with `best_order`: in the order of least keep-all peak that is found
/// (optimize/order/least_peak.h), for half of the time, and in the given one; the better plan, so never a
/// worse one than the given order has in that time. Bounds and `infeasible` hold for every order: that is the
/// energy of computing everything once, and what an op alone needs.
[[nodiscard]] CompileResult compile_best_order(const CompileRequest& request);

}  // namespace poet
