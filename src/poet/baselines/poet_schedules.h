#pragma once

#include "poet/baselines/method.h"

namespace poet {

/// poet's optimiser, Patil et al. 2022 (arXiv 2207.07697) and what docs/formulation.md adds: recomputation
/// and paging together, and its two ablations. One plan, with a bound on the energy of all schedules of the
/// same kind within the limits.
[[nodiscard]] MethodAnswer poet_full(const MethodRequest& request);
[[nodiscard]] MethodAnswer poet_without_paging(const MethodRequest& request);
[[nodiscard]] MethodAnswer poet_without_recomputation(const MethodRequest& request);

}  // namespace poet
