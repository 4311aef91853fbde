#pragma once

#include <vector>

namespace poet {

/// Returns the median: the mean of the middle two for an even number of figures. `figures` must not be empty.
/// O(n log n).
[[nodiscard]] double median(std::vector<double> figures);

}  // namespace poet
