#pragma once

// What training steps took.

#include <cstdint>
#include <optional>
#include <vector>

#include "poet/base/units.h"
#include "poet/runtime/storage/transfer_totals.h"

namespace poet::runtime {

/// Of one step. Makespan: from its first instant to its last.
struct StepFigures {
  std::int64_t number = 0;  // from 1
  float loss = 0;
  Seconds makespan{};
  Seconds stalled{};   // of it, waiting for the storage
  Seconds fetching{};  // of it, reading the data set, which no plan knows
  /// The norm of all gradients, before they are clipped; absent: this step clips none.
  std::optional<float> gradient_norm{};
};

/// Medians, means and extremes are over all steps but the first, which touches memory for the first time
/// (unless it is the only one).
struct Measured {
  std::int64_t steps = 0;  // measured
  Seconds step{};          // median, without fetching the data
  Seconds p95_step{};      // the 95th percentile, without fetching the data
  Seconds fastest{};
  Seconds slowest{};
  Seconds stalled{};  // median
  Seconds p95_stalled{};
  Seconds fetching{};           // median
  std::vector<double> seconds;  // mean of each of the plan's steps
  TransferTotals transferred;   // in one step
  Bytes high_water{};           // of the arena, as found by what is no longer untouched
};

}  // namespace poet::runtime
