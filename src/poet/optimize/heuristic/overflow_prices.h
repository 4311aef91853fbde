#pragma once

// Prices of RAM, per byte and stage, beyond the budget. A search raises them in stages that keep overflowing.
// They make retention and restoring a value comparable in joules, and rank schedules that do not fit.

#include <cstdint>
#include <vector>

#include "poet/optimize/heuristic/incremental.h"

namespace poet {

class OverflowPrices {
 public:
  explicit OverflowPrices(const IncrementalReplay& replay);

  /// Returns the price of all bytes beyond the budget, in joules. O(ops); O(1) if there are none.
  [[nodiscard]] double of_overflow() const;
  /// Returns the price of `bytes` beyond the budget in a stage that has not overflowed yet.
  [[nodiscard]] double of_bytes(std::int64_t bytes) const { return first_ * static_cast<double>(bytes); }
  /// Returns the price of the additional overflow if the value stayed in RAM from its last event to a use in
  /// `stage`, given RAM at the last look_again(). O(stages in between); a sixteenth if RAM is not full.
  [[nodiscard]] double of_keeping(int value, int stage) const;

  [[nodiscard]] const std::vector<double>& per_stage() const { return price_; }

  /// Reads the RAM of the replay again, after it has changed. O(ops).
  void look_again();
  /// Raises the prices of overflowing stages; if none overflows, lowers all. O(ops).
  void adapt();

 private:
  [[nodiscard]] double of_keeping(double bytes, int first, int end) const;

  const IncrementalReplay& r_;
  const Problem& p_;
  double first_;
  double least_;
  std::vector<double> price_;    // per stage, of a byte
  std::vector<double> over_;     // per stage, bytes beyond the budget; negative: free
  std::vector<double> highest_;  // of every kStagesAtOnce stages
};

}  // namespace poet
