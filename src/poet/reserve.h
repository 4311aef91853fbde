#pragma once

// How much of the RAM budget ops are to leave free: RAM that is lost between addresses is none for a
// schedule, and how much is lost shows only in the addresses.

#include <optional>

#include "poet/base/units.h"
#include "poet/cost/instance.h"

namespace poet {

/// The instance with `reserve` more scratch memory for every op, or as much as its operands, results and
/// scratch memory, none of them written over another, leave of `ram_budget`: its plans are the original's,
/// need as much energy, and leave so much RAM free while an op runs. Device semantics. O(ops + edges).
[[nodiscard]] Instance with_reserve(const Instance& instance, Bytes ram_budget, Bytes reserve);

/// Tries nothing first; while the addresses do not fit, as much as they are over, or half as much where that
/// leaves too little for any plan; four times at most.
class ReserveSearch {
 public:
  explicit ReserveSearch(Bytes budget) : budget_(budget), too_much_(budget), least_(budget) {}

  /// What to try.
  [[nodiscard]] Bytes reserve() const { return reserve_; }
  /// Takes what it led to: the addresses of its plan need `over` more RAM than there is (fit: at most 0);
  /// nothing: there was no plan. Whether there is another reserve to try.
  bool next(std::optional<Bytes> over);

  /// How many were tried.
  [[nodiscard]] int solves() const { return solves_; }
  /// Where none fits: the least budget at which the addresses of one would have.
  [[nodiscard]] Bytes least_budget() const { return least_; }

 private:
  Bytes budget_;
  Bytes reserve_{};
  Bytes too_little_{};  // its plan's addresses did not fit
  Bytes over_{};        // by so much
  Bytes too_much_;      // no plan
  Bytes least_;
  int solves_ = 0;
};

}  // namespace poet
