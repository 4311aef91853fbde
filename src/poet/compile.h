#pragma once

// The one main path: instance and limits in, verified schedule, plan and addresses out.

#include <optional>
#include <vector>

#include "poet/cost/instance.h"
#include "poet/optimize/outcome.h"
#include "poet/plan/layout/layout.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "poet/plan/timing/variation.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"

namespace poet {

struct CompileRequest {
  Instance instance;
  Limits limits;
  Semantics semantics = Semantics::device;
  SolveOptions options = {};
  bool addresses = true;  // places the plan; on a device it must fit the budget so as well
  /// On a device with storage: which persistent values are paged is decided here, whatever the instance says.
  bool choose_paged = false;
  /// Ops may be computed in another order than the graph's (best_order.h).
  bool best_order = false;
  /// The share of steps, above 0 and below 1, that is to end by the deadline although times vary: on a device
  /// whose costs say how they do (on_time.h). Absent: the deadline is the median step's.
  std::optional<double> on_time = std::nullopt;
};

struct CompileResult {
  /// Of the ops, where it is not the graph's: all else is of reordered(instance, order) (cost/reorder.h).
  std::vector<OpId> order;
  /// The persistent values at home on storage, rows of tables included: plan, addresses and reports are of
  /// with_paged(instance, paged).
  std::vector<ValueId> paged;
  Certificate certificate;  // what this answer claims, and of which plans
  /// With `best_order`: the same of plans that keep the order of this one.
  std::optional<Certificate> of_this_order;
  Outcome outcome;         // of the solve that the plan comes from; bounds of the first
  Plan plan;               // empty without a schedule
  Layout layout;           // its addresses
  Report report;           // of the plan, from the verifier
  ArenaReport arena;       // of the addresses, from the verifier
  Report schedule_report;  // of the staged schedule; the plan's where there is none
  /// The plan pages synchronously (optimize/search/synchronous.h): it is no staged schedule, and
  /// outcome.schedule says what is kept, recomputed and paged, no more.
  bool synchronous = false;
  Report keep_all;      // everything computed once: baseline energy, time and keep-all peak
  int solves = 1;       // more: the addresses of the first plans did not fit the budget
  Bytes reserve{};      // what ops leave free for them in the plan's solve
  double overhead = 0;  // energy / baseline - 1
  /// Of the plan, on a device whose costs say how times vary (DeviceTiming::variation); else absent.
  std::optional<SimulatedSteps> expected;
};

/// On a device the plan's addresses must fit the budget, too. Where gaps between them leave no room, plans of
/// little more energy are tried, and the problem is solved again with so much less RAM, a few times; bound
/// and gap stay those of the whole budget. With `choose_paged` persistent values are resident where that
/// costs less energy: never more than with all of them resident. With `best_order` a quarter of the time is
/// for another order of the ops; the better answer counts, and bounds hold for every order. Ends within a
/// second of the time limit and half a second of a cancellation, with the best plan so far. Throws InputError
/// for an invalid request (negative budget, deadline not finite, NaN costs, a share of steps
/// without a deadline). When there is no plan that is data: certificate.status and outcome.explanation.
///
/// Threads. Any number of threads may call it at a time; each gets what it would get alone, unless time runs
/// out. Callbacks are called by the calling thread. No thread is started in this process.
///
/// Processes. Solvers run in children, forked from the calling thread one after the other (rules:
/// base/process/child.h) and gone when this returns or throws; they end with this process. In them runs the
/// solver alone, which shares no lock with the parent but the allocator's and stdio's, and those glibc hands
/// over in order: other threads may do what they like meanwhile. Nobody else may wait for these children
/// (waitpid(-1)). SIGCHLD reaches this process as it does for any child.
///
/// Signals. No handler is installed; the calling thread's mask is as before, and all are blocked only for the
/// moment of a fork. The children ignore SIGINT, SIGTERM and SIGHUP: to stop at those is the caller's, by
/// `options.interrupted`.
[[nodiscard]] CompileResult compile(const CompileRequest& request);

}  // namespace poet
