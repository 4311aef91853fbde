#pragma once

// What every picture of a plan is drawn from: the plan and what the verifier saw when it replayed it.

#include <string>

#include "poet/plan/file/plan_file.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"

namespace poet {

struct Picture {
  std::string title;  // the file's name, say
  PlanFile plan;
  Report report;      // figures, too, only go as far as the replay came
  ArenaReport arena;  // when the plan is valid
  Trace trace;        // one entry per step that was replayed
  Report keep_all;    // the step with everything in RAM: what the plan is compared with
  Trace keep_all_trace;
  std::string written = {};  // when the file was written, "2026-11-26 18:47 UTC"; empty: it is of no file
};

/// Asks the verifier. A plan that breaks nothing but its limits is replayed to its end, to show by how much
/// and for how long; the verdict stays. O(steps log steps + edges).
[[nodiscard]] Picture picture_of(PlanFile plan, std::string title);

}  // namespace poet
