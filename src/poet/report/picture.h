#pragma once

// The data of every picture of a plan: the plan and the verifier's replay of it.

#include <string>

#include "poet/plan/file/plan_file.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"

namespace poet {

struct Picture {
  std::string title;  // the file's name, say
  PlanFile plan;
  Report report;      // its figures cover the replayed part only
  ArenaReport arena;  // if the plan is valid
  Trace trace;        // one entry per replayed step
  Report keep_all;    // the keep-all plan, the baseline of comparisons
  Trace keep_all_trace;
  std::string written = {};  // time of the file, "2026-11-26 18:47 UTC"; empty: not from a file
};

/// Replays the plan. A plan that violates only its limits is replayed to its end, to show by how much and for
/// how long; it stays invalid. O(steps log steps + edges).
[[nodiscard]] Picture picture_of(PlanFile plan, std::string title);

}  // namespace poet
