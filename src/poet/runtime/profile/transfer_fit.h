#pragma once

// The cost model of a transfer, from measurements: seconds = latency + bytes / bandwidth.

#include <vector>

#include "poet/base/units.h"

namespace poet::runtime {

struct TransferSample {
  Bytes bytes{};   // > 0
  Seconds time{};  // > 0
};

struct TransferFit {
  Seconds latency{};  // >= 0
  double bytes_per_second = 0;
  /// The median over all samples of |measured - modelled| / modelled: half of them are no further off.
  double spread = 0;
  /// How transfers of one size vary: their 95th percentile over their median, of the size in the middle when
  /// sizes are in order of it, so that a small transfer that once waited a hundred times as long does not
  /// speak for large ones. At least 1.
  double p95_over_median = 1;
};

/// The least squares of relative errors (a small transfer counts as much as a large one) to the median time
/// of each size, so that a transfer now and then that takes a hundred times as long does no harm; neither
/// parameter is negative. Where time does not grow with size, the bandwidth is the largest transfer's: what
/// was seen, not infinity. Needs samples of two sizes. O(n log n).
[[nodiscard]] TransferFit fit_transfers(const std::vector<TransferSample>& samples);

}  // namespace poet::runtime
