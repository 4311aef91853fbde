#pragma once

#include <vector>

namespace poet {

/// The figure below which a part `q` (0 to 1) of all lie, between two of them in proportion: the least for 0,
/// the median for 0.5, the largest for 1. Needs one figure. O(n log n).
[[nodiscard]] double quantile(std::vector<double> figures, double q);
/// Of figures in increasing order. O(1).
[[nodiscard]] double quantile_of_sorted(const std::vector<double>& figures, double q);

}  // namespace poet
