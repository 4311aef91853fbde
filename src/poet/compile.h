#pragma once

// The main path: instance and limits in; verified schedule, plan and addresses out.

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
  bool addresses = true;  // assign addresses; with device semantics they must fit the RAM budget
  /// Device semantics with storage: compile() decides which persistent values are paged, whatever the
  /// instance says.
  bool choose_paged = false;
  /// Ops may be computed in another topological order than the graph's (best_order.h).
  bool best_order = false;
  /// In (0, 1): the share of steps that has to meet the deadline although times vary. Needs a device whose
  /// costs say how they vary (on_time.h). Absent: the step with median times has to meet the deadline.
  std::optional<double> on_time = std::nullopt;
};

struct CompileResult {
  /// The order of ops, if it is not the graph's: then everything else describes reordered(instance, order)
  /// (cost/reorder.h).
  std::vector<OpId> order;
  /// The persistent values at home on storage, rows of tables included: plan, addresses and reports describe
  /// with_paged(instance, paged).
  std::vector<ValueId> paged;
  Certificate certificate;  // status, bounds and gaps of this answer
  /// With `best_order`: the certificate among plans in this answer's order.
  std::optional<Certificate> of_this_order;
  Outcome outcome;         // of the solve that found the plan; bounds of the first solve
  Plan plan;               // empty without an answer
  Layout layout;           // the plan's addresses
  Report report;           // of the plan, from the verifier
  ArenaReport arena;       // of the addresses, from the verifier
  Report schedule_report;  // of the staged schedule, or the plan's if there is no schedule
  /// The plan has synchronous paging (optimize/search/synchronous.h) and no staged form: outcome.schedule
  /// only shows what is retained, recomputed and paged.
  bool synchronous = false;
  Report keep_all;      // every op computed once, everything kept: baseline energy and time, keep-all peak
  int solves = 1;       // above 1 if the addresses of the first plans did not fit the budget
  Bytes reserve{};      // RAM held back for fragmentation in the solve that found the plan
  double overhead = 0;  // energy / baseline - 1
  /// Simulated steps of the plan, if the device's costs say how times vary (DeviceTiming::variation).
  std::optional<SimulatedSteps> expected;

  [[nodiscard]] bool has_plan() const { return certificate.has_plan(); }
};

/// Returns the cheapest plan found within the limits, verified, with proven bounds; without a plan, the
/// status and an explanation, which are data, not errors.
///
/// With device semantics the plan's addresses must fit the RAM budget. If fragmentation prevents that,
/// slightly costlier plans are tried, and the problem is solved again with part of the budget held back, a
/// few times; bound and gap still refer to the whole budget. With `choose_paged`, persistent values are
/// resident where that costs less energy: the plan is never costlier than with all of them resident. With
/// `best_order`, a quarter of the time goes to another order of the ops; the cheaper plan wins, and bounds
/// hold for every order. Ends within a second of the time limit, or half a second of a cancellation, with the
/// best plan so far.
///
/// Throws InputError for an invalid request: an invalid instance (NaN or negative costs...), a RAM budget
/// that is not positive, a deadline that is not positive and finite, a negative limit on bytes written, a gap
/// that is negative or NaN, a time limit that is not positive, fewer than one thread, `on_time` outside (0,
/// 1) or without what it needs (on_time.h), and options that contradict each other (optimize/solve.h).
///
/// Threads: any number of threads may call it at once; each gets the result it would get alone, unless time
/// runs out. Callbacks are called by the calling thread. No thread is started in this process.
///
/// Processes: solvers run in child processes, forked from the calling thread one after the other (rules:
/// base/process/child.h) and gone when this returns or throws; they end with this process. A child runs the
/// solver alone, which shares no lock with the parent except the allocator's and stdio's, and glibc keeps
/// those consistent across a fork: other threads may do anything meanwhile. Nothing else may wait for these
/// children (waitpid(-1)). SIGCHLD reaches this process as for any child.
///
/// Signals: no handler is installed. The calling thread's mask is restored; all signals are blocked only for
/// the moment of a fork. Children ignore SIGINT, SIGTERM and SIGHUP: the caller has to stop at those, through
/// `options.interrupted`.
[[nodiscard]] CompileResult compile(const CompileRequest& request);

}  // namespace poet
