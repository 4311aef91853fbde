#pragma once

// The verifier: replays a schedule or a plan against its instance, in exact integer bytes, and is the only
// source of figures shown to people. It shares nothing with the optimiser but graph, cost table and plan
// types.

#include <optional>
#include <string>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

struct Report {
  bool valid = false;
  std::string violation;  // the first violated rule and where, when not valid
  Joules energy{};        // compute + page_in + page_out + idle
  Joules compute_energy{};
  Joules page_in_energy{};
  Joules page_out_energy{};
  Joules idle_energy{};  // device semantics only; wake energy counts with the transfer that wakes the storage
  Seconds runtime{};     // makespan; published and staged: compute only
  Seconds stalled{};     // device: time in which compute waited for the channel
  Bytes peak_ram{};      // persistent bytes included
  OpId peak_op;          // the op that runs at the first instant of the peak
  Bytes bytes_read{};    // paged in; a count that would overflow stops
  Bytes bytes_written{};
  int recomputations = 0;
  int page_ins = 0;
  int page_outs = 0;
};

/// What happened when, for pictures: seconds from the beginning of the step. Outside device semantics
/// computations follow one another and a transfer takes no time.
struct Trace {
  struct Interval {
    double begin = 0;
    double end = 0;
  };
  struct TimedTransfer {
    std::size_t step = 0;
    Interval interval;  // of the channel, waking up included
  };
  std::vector<Interval>
      steps;               // of the compute engine: its work or its waiting; transfers are issued at once
  std::vector<Bytes> ram;  // persistent bytes included: while the step computes, else after it
  std::vector<TimedTransfer> channel;  // in order
};

/// Every rule of staged schedules (order, dependencies, retention, storage, recomputability, parameter
/// updates), RAM at every instant, deadline and write limit. Figures are filled as far as the replay came. In
/// device semantics the timeline is replayed as well: transfers in stage order on one FIFO channel (page-outs
/// before page-ins), an op starts when its predecessor has ended and its inputs have arrived, a freed value
/// waits for its page-out. An op that writes a value anew while the channel moves it waits for that transfer.
/// A result written over an operand that dies with the op counts once with it (docs/formulation.md, section
/// 1); where the channel still sends the operand, the op waits. `instance` must be verified. O(stages *
/// values).
[[nodiscard]] Report replay(const Instance& instance, const Schedule& schedule, Semantics semantics,
                            const Limits& limits);

/// The same verdict for a plan, replayed step by step without knowing the schedule it came from. A transfer's
/// memory belongs to the channel until the plan knows that the transfer has ended: nobody uses what is
/// arriving, nobody frees or writes what is moving. It knows after a wait for it or for a later one; where
/// transfers block compute, at once; in staged semantics, where they last as long as their stage, after the
/// next first computation (and a stage may compute anew what it moves). On a device an op's first result and
/// an operand count once while it runs if the operator can write the one over the other, the frees right
/// after it name the operand, and its transfers are known to have ended. A paged persistent value is on
/// storage when the step begins. It may be paged in until its update; after the update it is paged out once,
/// before its memory is given back and before the step ends. O(steps + edges). `trace`, if given, is filled
/// as far as the replay came.
[[nodiscard]] Report replay(const Instance& instance, const Plan& plan, Semantics semantics,
                            const Limits& limits, Trace* trace = nullptr);

/// Everything computed once, nothing dropped, nothing paged, persistent values resident: baseline energy and
/// time, and the keep-all peak. `trace`, if given, is filled: of steps that compute and free. O(ops + edges).
[[nodiscard]] Report replay_keep_all(const Instance& instance, Semantics semantics, Trace* trace = nullptr);

}  // namespace poet
