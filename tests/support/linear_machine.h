#pragma once

// The rules of a linear plan, as a machine that carries out one step after the other: private to
// linear_search.cc. Written from docs/formulation.md and the words of plan.h alone.

#include <cstdint>
#include <optional>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet::test {

/// A set of ops or values: bit i stands for id i.
using Mask = std::uint32_t;

constexpr Mask bit(int i) { return Mask{1} << i; }

template <class F>
void for_each_bit(Mask mask, F f) {
  for (int i = 0; mask != 0; ++i, mask >>= 1U)
    if (mask & 1U) f(i);
}

struct InFlight {
  bool out;
  int value;
  double end;  // seconds from the beginning of the step
};

struct MachineState {
  int next = 0;     // the op to be computed first next
  Mask idle = 0;    // values in RAM that are complete and not moving
  Mask stored = 0;  // values that can be paged in: on storage when their turn on the channel comes
  Mask home = 0;    // paged persistent values that have been sent home since their update
  double now = 0;
  double channel_end = -1;  // of the last transfer; before the first one a channel has rested
  double joules = 0;        // without idle power
  std::int64_t written = 0;
  std::vector<InFlight> queue;  // transfers that have not ended, in order

  [[nodiscard]] Mask moving() const;    // values of the queue
  [[nodiscard]] Mask arriving() const;  // of its page-ins
};

class LinearMachine {
 public:
  struct Op {
    Mask reads = 0, writes = 0;
    Mask updates = 0;       // paged persistent values that it changes in place
    Mask overwritable = 0;  // device: what its first result may be written over
    int result = -1;        // if there is any
    double seconds = 0, joules = 0;
    std::int64_t workspace = 0;
    int last_again = -1;  // it may be computed again until this op has been computed
  };
  struct Value {
    std::int64_t bytes = 0;
    double out_seconds = 0, in_seconds = 0, out_joules = 0, in_joules = 0;
  };
  /// What may be left out because nothing depends on it.
  struct Without {
    bool joules = false;
    bool transfer_seconds = false;
    bool waking = false;
  };

  LinearMachine(const Instance& instance, Semantics semantics, const Limits& limits, const Without& without);

  /// Before the first step: paged persistent values are on storage, nothing is in RAM.
  [[nodiscard]] MachineState start() const;
  /// Carries out one step if the rules and the RAM budget allow it. Energy and time are for others to judge.
  /// `overwritten`: the operand over which the op writes its first result, which is given back with it; -1:
  /// none.
  [[nodiscard]] bool compute(MachineState& state, int op, int overwritten = -1) const;
  [[nodiscard]] bool page_out(MachineState& state, int value) const;
  [[nodiscard]] bool page_in(MachineState& state, int value) const;
  /// Until the oldest transfer in flight has ended.
  [[nodiscard]] bool wait(MachineState& state) const;
  [[nodiscard]] bool free(MachineState& state, Mask values) const;

  /// RAM over the budget while the op runs, or when the page-in is issued: what has to be freed before.
  [[nodiscard]] std::int64_t missing_for_compute(const MachineState& state, int op,
                                                 int overwritten = -1) const;
  [[nodiscard]] std::int64_t missing_for_page_in(const MachineState& state, int value) const;

  [[nodiscard]] bool may_recompute(int op, int next) const {
    return op < next && next <= ops[static_cast<std::size_t>(op)].last_again;
  }
  [[nodiscard]] std::int64_t bytes_of(Mask values) const;
  /// Paged persistent values that have been updated and are not on their way home: they stay in RAM.
  [[nodiscard]] Mask dirty(const MachineState& state) const {
    return updated_before[static_cast<std::size_t>(state.next)] & ~state.home;
  }
  /// Whether the step may end here.
  [[nodiscard]] bool complete(const MachineState& state) const {
    return state.next == static_cast<int>(ops.size()) && dirty(state) == 0;
  }
  [[nodiscard]] bool awake(const MachineState& state) const {
    return timed && state.channel_end >= state.now;
  }
  /// When the step ends if nothing more is done.
  [[nodiscard]] double makespan(const MachineState& state) const;

  const bool timed;   // device
  const bool beside;  // the channel runs beside compute
  const bool staged;
  std::vector<Op> ops;
  std::vector<Value> values;
  Mask paged = 0;                    // persistent values at home on storage
  std::vector<Mask> updated_before;  // of them, by the op to be computed first next
  std::int64_t persistent = 0;       // resident
  double idle_watts = 0, wake_seconds = 0, wake_joules = 0;

 private:
  void read_graph(const Graph& graph);
  void read_in_place(const Graph& graph, const CostTable& costs);
  void read_costs(const CostTable& costs, const Without& without);
  void transfer(MachineState& state, bool out, int value, double seconds) const;
  void land(MachineState& state) const;

  const Limits limits_;
};

}  // namespace poet::test
