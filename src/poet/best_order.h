#pragma once

// The order in which ops are first computed: compile() for the graph's order and for another one.

#include "poet/compile.h"

namespace poet {

/// Implements compile() for a request with `best_order`. Compiles for the given order, within three quarters
/// of the time, and for the order of least keep-all peak found (optimize/order/least_peak.h), or for the
/// latter alone if its plan keeps everything. Returns the cheaper plan. Bounds and `infeasible` hold for
/// every order: they rest on the energy and time of computing everything once and on the RAM floor.
[[nodiscard]] CompileResult compile_best_order(const CompileRequest& request);

}  // namespace poet
