#pragma once

// Fragmentation is unknown until addresses are assigned, so we re-solve with part of the budget held back.

#include <optional>

#include "poet/base/units.h"
#include "poet/cost/instance.h"

namespace poet {

/// Adds `reserve` bytes of scratch to every op, capped so that its working set still fits the budget. The
/// plans of the new instance are plans of the original one, need the same energy, and leave that RAM free
/// while an op runs. Device semantics. O(ops + edges).
[[nodiscard]] Instance with_reserve(const Instance& instance, Bytes ram_budget, Bytes reserve);

/// First tries no reserve. If the layout overflows, tries the overflow; if that leaves no plan, bisects. At
/// most four attempts.
class ReserveSearch {
 public:
  explicit ReserveSearch(Bytes budget) : too_much_(budget) {}

  /// The reserve to try.
  [[nodiscard]] Bytes reserve() const { return reserve_; }
  /// Takes the result of that reserve: `over`, by which the layout exceeds the budget (at most 0: it fits),
  /// or nullopt if there was no plan. Returns whether there is another reserve to try.
  bool next(std::optional<Bytes> over);

 private:
  Bytes reserve_{};
  Bytes too_little_{};  // the largest reserve whose layout overflows,
  Bytes over_{};        // and by how much
  Bytes too_much_;      // the smallest reserve without a plan
  int solves_ = 0;
};

}  // namespace poet
