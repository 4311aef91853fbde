#pragma once

// What both replays count in the same way: energy, transfers, the peak, and whether a limit is violated. It
// knows nothing of what is in RAM nor of time: the two replays find that out each in its own way.

#include <string>

#include "poet/verify/replay.h"

namespace poet {

class Tally {
 public:
  Tally(const Instance& instance, Semantics semantics, const Limits& limits);

  /// The first rule that was violated is the one that is reported.
  void break_rule(const std::string& message);
  [[nodiscard]] bool violated() const { return !report_.violation.empty(); }

  void computed(OpId op, bool again);
  void paged_in(ValueId value);
  /// `home`: to the place on storage that a persistent value has anyway.
  void paged_out(ValueId value, bool home = false);
  /// `woken_by` is the kind of the first transfer of a burst.
  void woke(StepKind woken_by);

  /// `transient` bytes besides the persistent ones, while or just before `op` runs; an invalid op: whichever
  /// is computed next.
  void occupied(Bytes transient, OpId op);

  /// What the limits say after the last call: empty, or how RAM or the bytes written exceed them.
  [[nodiscard]] std::string over_budget(Bytes transient) const;
  [[nodiscard]] std::string over_wear() const;

  /// The report. Outside device semantics the runtime is that of the ops and `makespan` does not matter.
  [[nodiscard]] Report close(Seconds makespan, Seconds stalled);

 private:
  const CostTable& costs_;
  const Limits limits_;
  const bool timed_;
  Report report_;
  Bytes stored_{};  // written to places of its own
  Seconds computing_{};
  OpId last_op_;
};

}  // namespace poet
