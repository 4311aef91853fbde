#pragma once

// In which order ops are first computed: compile() for the graph's and for another one.

#include "poet/compile.h"

namespace poet {

/// compile() of a request with `best_order`: in the given order, for three quarters of the time where it
/// takes as much, and in the order of least keep-all peak that is found (optimize/order/least_peak.h); in
/// that one alone where it keeps everything. The better plan, so never a worse one than the given order has
/// in its time. Bounds and `infeasible` hold for every order: that is the energy of computing everything
/// once, and what an op alone needs.
[[nodiscard]] CompileResult compile_best_order(const CompileRequest& request);

}  // namespace poet
