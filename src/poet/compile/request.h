#pragma once

// What compile() is asked, and what it answers.

#include <memory>
#include <optional>
#include <vector>

#include "poet/cost/cuts.h"
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
  /// Other graphs of the same step, operators in parts: compile() chooses among these, too.
  std::optional<Cuts> cuts = std::nullopt;
  /// Ops may be computed in another topological order than the graph's (variants/forms.h).
  bool best_order = false;
  /// In (0, 1): the share of steps that has to meet the deadline although times vary. Needs a device whose
  /// costs say how they vary (variants/stricter.h). Absent: the step with median times has to meet the
  /// deadline.
  std::optional<double> on_time = std::nullopt;
};

struct CompileResult {
  /// What plan, addresses and reports describe: the request's instance, or another graph of `cuts`, with its
  /// ops in `order` and the persistent values of `paged` at home on storage. Without a plan, what the
  /// explanation describes, with nothing paged that could be resident.
  std::shared_ptr<const Instance> instance;
  Cut cut;                     // of that instance, if the request has `cuts`
  std::vector<OpId> order;     // of ops, if it is not the graph's (cost/reorder.h), in which
  Bytes given_peak{};          // keeping everything takes so much
  std::vector<ValueId> paged;  // persistent values at home on storage, rows of tables included
  Certificate certificate;     // status, bounds and gaps of this answer
  /// With `best_order`: the certificate among plans in this answer's order. With `cuts`, every certificate is
  /// about the plans of this answer's graph.
  std::optional<Certificate> of_this_order;
  Outcome outcome;         // of the search
  Plan plan;               // empty without an answer
  Layout layout;           // the plan's addresses
  Report report;           // of the plan, from the verifier
  ArenaReport arena;       // of the addresses, from the verifier
  Report schedule_report;  // of the staged schedule, or the plan's if there is no schedule
  /// The plan has synchronous paging (optimize/search/plans_from_scratch.h) and no staged form:
  /// outcome.schedule only shows what is retained, recomputed and paged.
  bool synchronous = false;
  Report keep_all;      // every op computed once, everything kept: baseline energy and time, keep-all peak
  int solves = 1;       // above 1 if the addresses of the first plans did not fit the budget
  Bytes reserve{};      // RAM held back for fragmentation in the solve that found the plan
  double overhead = 0;  // energy / baseline - 1
  /// Simulated steps of the plan, if the device's costs say how times vary (DeviceTiming::variation).
  std::optional<SimulatedSteps> expected;

  [[nodiscard]] bool has_plan() const { return certificate.has_plan(); }
};

}  // namespace poet
