#pragma once

// Moves a plan's transfers between its slots: each page-in as late as possible, each page-out as early.

#include "poet/cost/instance.h"
#include "poet/plan/timing/slot_plan.h"

namespace poet {

/// The factors by which transfers are taken to last longer than the cost table says, to have slack.
struct Stretch {
  double page_in = 1;
  double page_out = 1;
};

class TransferShifter {
 public:
  /// `capacity`: the RAM for transient bytes. `instance` must outlive this.
  TransferShifter(const Instance& instance, std::int64_t capacity, Stretch stretch = {})
      : instance_(instance), capacity_(capacity), stretch_(stretch) {}

  /// Moves page-ins, the one that is needed last first: each ends when it is needed, or when the channel is
  /// needed for the one after it. A page-in is needed when the computation that reads it begins. That may be
  /// late only because compute waits for this very page-in, as it does if it is issued right before its use;
  /// `without_stalls`: it is needed when the computation before has ended. O(transfers * (log slots + moved
  /// slots)).
  void page_in_just_in_time(SlotPlan& slotted, Slots& slots, bool without_stalls) const;

  /// Moves page-outs, the one whose value is complete first first: each into the first gap that the page-ins
  /// leave to the channel. Their RAM is given back at the first slot after the transfer's end. O(transfers *
  /// (log + gaps too short) + releases * moved slots).
  void page_out_at_once(SlotPlan& slotted, const Slots& slots) const;

  /// Moves the releases of RAM that page-outs free to the first slot after the end of the stretched transfer,
  /// where nobody needs the RAM earlier. O(steps + releases * moved slots).
  void release_later(SlotPlan& slotted, Slots& slots) const;

 private:
  [[nodiscard]] double seconds(const Shiftable& transfer) const;
  void shift(Slots& slots, Shiftable& transfer, int slot) const;

  const Instance& instance_;
  const std::int64_t capacity_;
  const Stretch stretch_;
};

/// Lets no page-out of a value begin before the page-in that brings the value. O(transfers).
void keep_order(SlotPlan& slotted);

/// Returns whether `a` is neither costlier nor slower than `b`, of the same computations and transfers. The
/// last bits do not count, as sums of seconds are not exact.
[[nodiscard]] bool no_worse(const Instance& instance, const Timeline& a, const Timeline& b);

}  // namespace poet
