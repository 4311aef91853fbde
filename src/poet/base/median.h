#pragma once

#include <vector>

namespace poet {

/// Of an odd number of figures the one in the middle, of an even one the mean of both. Needs one figure.
/// O(n log n).
[[nodiscard]] double median(std::vector<double> figures);

}  // namespace poet
