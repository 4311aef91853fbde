#pragma once

// The effort of searches in nominal seconds: what they take on an average machine. Counted from work, so that
// the same input takes the same effort everywhere, whatever the clock says.

#include <algorithm>

namespace poet {

/// Of a phase that takes so many microseconds per op.
[[nodiscard]] constexpr double effort_per_op(double microseconds, int ops) {
  return 1e-6 * microseconds * ops;
}

/// Of simplex iterations on a model with so many rows. Those of larger models take no longer: their rows are
/// sparse.
[[nodiscard]] constexpr double effort_of_simplex(long iterations, int rows) {
  constexpr double kPerRow = 4e-8;
  constexpr int kMostRows = 1500;
  return kPerRow * static_cast<double>(iterations) * std::min(rows, kMostRows);
}

}  // namespace poet
