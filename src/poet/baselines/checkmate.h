#pragma once

// Jain et al. 2020, "Checkmate: Breaking the Memory Wall with Optimal Tensor Rematerialization" (arXiv
// 1910.02653). It knows RAM and the cost of ops, here their energy, but neither storage nor deadlines.

#include "poet/baselines/method.h"

namespace poet {

/// The MILP, problem (9): the least cost within the RAM budget, by poet's formulation with paging off. It has
/// the same optimum as Checkmate's own and is found faster (docs/results.md). One plan, with a bound.
[[nodiscard]] MethodAnswer checkmate(const MethodRequest& request);

/// Algorithm 2, two-phase rounding: the linear relaxation at 0.9 of the budget, S rounded at a threshold, R
/// as it then must be. Thresholds 0.5 (the paper) and 0.1, 0.2, ... 0.9 (the authors' code): nine plans. In
/// its favour: what S keeps that nothing reads any more is dropped, where Algorithm 2 would recompute it.
[[nodiscard]] MethodAnswer checkmate_lp(const MethodRequest& request);

/// The same with S drawn at random, 1 with the probability of the relaxation: 100 draws, the same ones for
/// the same instance and limits.
[[nodiscard]] MethodAnswer checkmate_random(const MethodRequest& request);

}  // namespace poet
