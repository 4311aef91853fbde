#pragma once

// Where in its slots a plan's transfers go: each page-in as late as it can, each page-out as early.

#include "poet/cost/instance.h"
#include "poet/plan/timing/slot_plan.h"

namespace poet {

/// By which factor transfers are taken to last longer than the cost table says, to have slack.
struct Stretch {
  double page_in = 1;
  double page_out = 1;
};

class TransferShifter {
 public:
  /// `capacity`: for transient bytes. `instance` must outlive this.
  TransferShifter(const Instance& instance, std::int64_t capacity, Stretch stretch = {})
      : instance_(instance), capacity_(capacity), stretch_(stretch) {}

  /// Latest need first: each page-in ends when it is needed or when the channel is needed for the one after
  /// it. Needed is when compute begins; that may be so late because it waits for this page-in, as it does
  /// where it is issued right before its use: `without_stalls`, when the computation before has ended.
  /// O(transfers * (log slots + moved slots)).
  void page_in_just_in_time(SlotPlan& slotted, Slots& slots, bool without_stalls) const;

  /// First complete first: each page-out in the first gap that the page-ins leave to the channel. Their RAM
  /// is given back at the first slot after the transfer's end. O(transfers * (log + gaps too short) +
  /// releases * moved slots).
  void page_out_at_once(SlotPlan& slotted, const Slots& slots) const;

  /// RAM that a page-out frees is given back at the first slot after the transfer's end, stretched, where
  /// nobody needs it earlier. O(steps + releases * moved slots).
  void release_later(SlotPlan& slotted, Slots& slots) const;

 private:
  [[nodiscard]] double seconds(const Shiftable& transfer) const;
  void shift(Slots& slots, Shiftable& transfer, int slot) const;

  const Instance& instance_;
  const std::int64_t capacity_;
  const Stretch stretch_;
};

/// What leaves again before anybody has used it leaves after it has come. O(transfers).
void keep_order(SlotPlan& slotted);

/// Neither costlier nor slower, but for the last bits, as sums of seconds are not exact: `a` than `b`, of the
/// same computations and transfers.
[[nodiscard]] bool no_worse(const Instance& instance, const Timeline& a, const Timeline& b);

}  // namespace poet
