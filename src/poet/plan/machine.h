#pragma once

// The planner's interpreter of steps: tracks RAM, the channel and the time in the given semantics. The
// verifier deliberately has its own (poet/verify).

#include <deque>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/graph/dataflow.h"
#include "poet/plan/plan.h"
#include "poet/plan/timing/device_clock.h"

namespace poet {

/// Returns whether transfers overlap with compute until a step waits for them.
[[nodiscard]] inline bool has_waits(const Instance& instance, Semantics semantics) {
  return semantics == Semantics::device && instance.costs.timing.concurrent;
}

/// Executes the steps of a plan one after the other, even if the verifier would reject it. The RAM of a
/// transfer belongs to the channel until the plan knows that the transfer has ended: after a wait for it or
/// for a later one; where transfers take no time beside compute, at once; in staged semantics after the next
/// first computation. `instance` and `flow`, its data flow, must outlive the machine. Every member function
/// is O(1) per operand, and per transfer once.
class Machine {
 public:
  Machine(const Instance& instance, const Dataflow& flow, Semantics semantics);

  struct UnderWay {
    ValueId value;
    double end;
  };

  /// Returns the values that the plan must wait for before the step, in the order of their waits: operands
  /// still arriving, and results or freed memory that the channel still transfers. Empty if there are no
  /// waits. Valid until the next call.
  const std::vector<ValueId>& awaited_by(const Step& step);
  /// The operand over which step i of the plan, a computation that is taken next, writes its first result;
  /// invalid: none. It dies with the op: the plan frees it right after the step, and nothing moves it.
  [[nodiscard]] ValueId overwritten_by(const Plan& plan, std::size_t i) const;
  /// Executes the step and returns the values whose transfers it completes. Valid until the next call.
  /// `overwritten` is the result of overwritten_by(), needed for level() only.
  const std::vector<ValueId>& take(const Step& step, ValueId overwritten = ValueId());

  [[nodiscard]] bool in_ram(ValueId v) const { return in_ram_[v] != 0; }
  [[nodiscard]] bool moving(ValueId v) const { return last_[v] > ended_; }
  [[nodiscard]] bool arriving(ValueId v) const { return last_in_[v] > ended_; }
  /// When the value's last transfer ends; 0: it has none.
  [[nodiscard]] double quiet_at(ValueId v) const { return quiet_at_[v]; }
  /// Transfers that are not known to have ended, in the channel's order.
  [[nodiscard]] const std::deque<UnderWay>& under_way() const { return under_way_; }

  /// Transient bytes in RAM, and their peak during the last step: in device semantics including workspace,
  /// with an operand and the result written over it counted once.
  [[nodiscard]] Bytes ram() const { return ram_; }
  [[nodiscard]] Bytes level() const { return level_; }
  /// The interval of the last step: of a transfer on the channel, of others on the compute engine.
  [[nodiscard]] TransferInterval when() const { return when_; }
  /// Outside device semantics only computations take time.
  [[nodiscard]] const DeviceClock& clock() const { return clock_; }

 private:
  void transfer(const Step& step);
  void compute(OpId op, ValueId overwritten);
  void occupy(ValueId v);
  void end_transfers(int number);

  const Instance& instance_;
  const Dataflow& flow_;
  const IdVector<OpId, std::vector<ValueId>> overwritable_;
  const Semantics semantics_;
  const bool waits_;
  DeviceClock clock_;
  TransferInterval when_;
  Bytes ram_{};
  Bytes level_{};
  IdVector<ValueId, char> in_ram_;
  IdVector<ValueId, int> last_;     // number of the value's last transfer
  IdVector<ValueId, int> last_in_;  // of its last page-in
  IdVector<ValueId, double> quiet_at_;
  std::deque<UnderWay> under_way_;
  int issued_ = 0;
  int ended_ = 0;  // known to have ended
  OpId next_{0};   // the op to be computed first next
  std::vector<ValueId> awaited_;
  std::vector<ValueId> quiet_;
};

}  // namespace poet
