#pragma once

#include <vector>

namespace poet {

/// Returns the q-quantile (0 <= q <= 1), linearly interpolated. `figures` must not be empty. O(n log n).
[[nodiscard]] double quantile(std::vector<double> figures, double q);
/// The same of figures in ascending order. O(1).
[[nodiscard]] double quantile_of_sorted(const std::vector<double>& figures, double q);

}  // namespace poet
