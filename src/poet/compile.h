#pragma once

// The one main path: instance and limits in, verified schedule and plan out.

#include "poet/cost/instance.h"
#include "poet/optimize/outcome.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "poet/referee/replay.h"

namespace poet {

struct CompileRequest {
  Instance instance;
  Limits limits;
  Semantics semantics = Semantics::device;
  SolveOptions options;
};

struct CompileResult {
  Outcome outcome;
  Plan plan;               // empty without a schedule
  Report report;           // of the plan, from the referee
  Report keep_all;         // everything computed once: baseline energy, time and keep-all peak
  Report schedule_report;  // of the schedule in stage form; agrees with `report`
  double gap = 0;          // (energy - bound) / (energy - baseline)
  double overhead = 0;     // energy / baseline - 1
};

/// Throws InputError for a request that cannot be meant (negative budget, deadline not finite, NaN costs).
/// When no schedule exists that is data: outcome.status and outcome.explanation.
[[nodiscard]] CompileResult compile(const CompileRequest& request);

}  // namespace poet
