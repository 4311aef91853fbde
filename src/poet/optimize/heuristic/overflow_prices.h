#pragma once

// What RAM costs where a schedule overflows: a price per byte and stage, which a search raises where it keeps
// overflowing. With it, keeping a value and bringing it back compare in joules, and a schedule that does not
// fit can be judged.

#include <cstdint>
#include <vector>

#include "poet/optimize/heuristic/incremental.h"

namespace poet {

class OverflowPrices {
 public:
  explicit OverflowPrices(const IncrementalReplay& replay);

  /// Joules of all that exceeds the budget. O(ops), O(1) where nothing does.
  [[nodiscard]] double of_overflow() const;
  /// What so many bytes too many cost in a stage in which nothing has overflowed yet.
  [[nodiscard]] double of_bytes(std::int64_t bytes) const { return first_ * static_cast<double>(bytes); }
  /// Joules of what would exceed it besides, if the value stayed in RAM from when it was last there to a use
  /// in the stage, as RAM was when looked at last. O(stages in between), a sixteenth where RAM is not full.
  [[nodiscard]] double of_keeping(int value, int stage) const;

  [[nodiscard]] const std::vector<double>& per_stage() const { return price_; }

  /// After the replay has changed. O(ops).
  void look_again();
  /// Higher where RAM overflows; where it overflows nowhere, lower everywhere. O(ops).
  void adapt();

 private:
  [[nodiscard]] double of_keeping(double bytes, int first, int end) const;

  const IncrementalReplay& r_;
  const Problem& p_;
  double first_;
  double least_;
  std::vector<double> price_;    // per stage, of a byte
  std::vector<double> over_;     // per stage, bytes beyond the budget; negative: left
  std::vector<double> highest_;  // of every kStagesAtOnce stages
};

}  // namespace poet
