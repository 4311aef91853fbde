#pragma once

// A coarser view of a schedule: between two consecutive first uses (or production and first use), a value is
// kept, paged, or recomputed just in time for the later use. Greedy searches over these modes.

#include <vector>

#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"

namespace poet {

enum class GapMode : char { keep, page, recompute };

struct Gap {
  int value;
  int from;  // op that made or last used it
  int to;    // op that uses it next; Problem::ops after the last first use, where only others' recomputation
             // needs it
};

class Gaps {
 public:
  explicit Gaps(const Problem& problem);

  [[nodiscard]] const std::vector<Gap>& all() const { return gaps_; }
  [[nodiscard]] const std::vector<std::size_t>& of(int value) const {
    return of_[static_cast<std::size_t>(value)];
  }

  /// Returns whether the gap can have the mode: there is an op in between, and time for the transfers.
  [[nodiscard]] bool possible(const Gap& gap, GapMode mode) const;

  /// Returns the modes that keep every value until its last first use. Values needed after that, for
  /// recomputations, are recomputed themselves if possible.
  [[nodiscard]] std::vector<GapMode> keep_all() const;

  /// The decisions that bridge every gap by its mode: page in during the stage before the use, recompute in
  /// the use's own stage, and restore the operands of what is recomputed by the modes of the gaps that they
  /// are in. O(gaps + decisions).
  [[nodiscard]] Decisions decisions(const std::vector<GapMode>& modes) const;

 private:
  [[nodiscard]] bool can_recompute(int value, int stage) const;
  [[nodiscard]] GapMode mode_at(const std::vector<GapMode>& modes, int value, int stage) const;
  void restore(const std::vector<GapMode>& modes, Decisions& decisions, int value, int stage,
               GapMode mode) const;

  const Problem& p_;
  std::vector<Gap> gaps_;
  std::vector<std::vector<std::size_t>> of_;
};

}  // namespace poet
