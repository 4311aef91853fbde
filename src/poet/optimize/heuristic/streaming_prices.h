#pragma once

// Prices of recomputation for a streaming pass. Private to streaming*.cc.

#include "poet/base/numbers.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

constexpr int kStreamDepth = 3;  // of nested recomputations

/// Returns the energy of computing the op once, with idle power.
[[nodiscard]] inline double price_of(const Problem& p, int op) {
  return p.joules[at(op)] + p.idle_watts * p.seconds[at(op)];
}

}  // namespace poet
