#pragma once

// The verifier: replays a schedule or a plan on its instance, in exact integer bytes, and is the only source
// of figures shown to users. It shares only the types of graph, cost table and plan with the optimiser.

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
  Bytes bytes_read{};    // paged in; saturates instead of overflowing
  Bytes bytes_written{};
  int recomputations = 0;
  int page_ins = 0;
  int page_outs = 0;
};

/// The timeline of a replay, for pictures, in seconds from the beginning of the step. Outside device
/// semantics computations follow one another and transfers take no time.
struct Trace {
  struct Interval {
    double begin = 0;
    double end = 0;
  };
  struct TimedTransfer {
    std::size_t step = 0;
    Interval interval;  // of the channel, waking up included
  };
  /// Of the compute engine: computing or waiting; issuing a transfer takes no time.
  std::vector<Interval> steps;
  std::vector<Bytes> ram;              // persistent bytes included: while the step computes, else after it
  std::vector<TimedTransfer> channel;  // in order
};

/// Checks every rule of staged schedules (order, dependencies, retention, storage, recomputability, parameter
/// updates), RAM at every instant, deadline and write limit. Figures cover the part that was replayed. In
/// device semantics the timeline is replayed as well: transfers in stage order on one FIFO channel (page-outs
/// before page-ins), an op starts when its predecessor has ended and its inputs have arrived, a freed value
/// waits for its page-out. An op that writes a value anew while the channel moves it waits for that transfer.
/// A result written over an operand that dies with the op counts once with it (docs/formulation.md, section
/// 1); where the channel still sends the operand, the op waits. `instance` must be verified. O(stages *
/// values).
[[nodiscard]] Report replay(const Instance& instance, const Schedule& schedule, Semantics semantics,
                            const Limits& limits);

/// The same for a plan, replayed step by step, independently of any schedule. A transfer's memory belongs to
/// the channel until the plan knows that the transfer has ended: until then no step may use a value that is
/// paged in, or free or write one that is transferred. A plan knows the end of a transfer after a wait for it
/// or for a later one; if transfers block compute, at once; in staged semantics, where they last as long as
/// their stage, after the next first computation (and a stage may compute anew what it moves). On a device an
/// op's first result and an operand count once while it runs if the operator can write the one over the
/// other, the frees right after it name the operand, and its transfers are known to have ended. A paged
/// persistent value is on storage when the step begins. It may be paged in until its update; after the update
/// it is paged out once, before its memory is given back and before the step ends. O(steps + edges). `trace`,
/// if given, is filled for the part that was replayed.
[[nodiscard]] Report replay(const Instance& instance, const Plan& plan, Semantics semantics,
                            const Limits& limits, Trace* trace = nullptr);

/// Replays the keep-all plan: every op computed once, nothing freed early or paged, persistent values
/// resident. Gives baseline energy and time, and the keep-all peak. `trace`, if given, is filled: of steps
/// that compute and free. O(ops + edges).
[[nodiscard]] Report replay_keep_all(const Instance& instance, Semantics semantics, Trace* trace = nullptr);

}  // namespace poet
