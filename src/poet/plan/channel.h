#pragma once

// What a plan knows of its transfers: which of them may still be under way.

#include <deque>
#include <vector>

#include "poet/plan/plan.h"

namespace poet {

/// Whether transfers run beside compute until a step waits for them.
[[nodiscard]] inline bool has_waits(const Instance& instance, Semantics semantics) {
  return semantics == Semantics::device && instance.costs.timing.concurrent;
}

/// The one FIFO channel, as far as the steps taken so far tell. Where there are no waits, transfers end at
/// once; in staged semantics with the next first computation. Every member function is O(1) per transfer.
class Channel {
 public:
  Channel(const Instance& instance, Semantics semantics)
      : lasts_(has_waits(instance, semantics) || semantics == Semantics::staged),
        last_(instance.graph.values.size(), 0),
        last_in_(instance.graph.values.size(), 0) {}

  void issue(const Step& transfer) {
    last_[transfer.value] = ++issued_;
    if (transfer.kind == StepKind::page_in) last_in_[transfer.value] = issued_;
    if (lasts_)
      under_way_.push_back(transfer.value);
    else
      ended_ = issued_;
  }

  /// Ends the value's transfers and all before them; gives the values that are not moving any more.
  std::vector<ValueId> wait(ValueId v) { return end(last_[v]); }
  std::vector<ValueId> wait_for_all() { return end(issued_); }

  [[nodiscard]] bool moving(ValueId v) const { return last_[v] > ended_; }
  [[nodiscard]] bool arriving(ValueId v) const { return last_in_[v] > ended_; }

 private:
  std::vector<ValueId> end(int number) {
    std::vector<ValueId> quiet;
    for (; ended_ < number; under_way_.pop_front()) {
      ++ended_;
      if (last_[under_way_.front()] == ended_) quiet.push_back(under_way_.front());
    }
    return quiet;
  }

  const bool lasts_;
  IdVector<ValueId, int> last_;     // number of the value's last transfer
  IdVector<ValueId, int> last_in_;  // of its last page-in
  std::deque<ValueId> under_way_;
  int issued_ = 0;
  int ended_ = 0;  // known to have ended
};

}  // namespace poet
