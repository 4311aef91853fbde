#pragma once

// The request and the result of solve().

#include <optional>
#include <string>

#include "poet/cost/instance.h"
#include "poet/optimize/certificate.h"
#include "poet/optimize/options.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

struct LoadsOf;

/// Refers to the instance, which must outlive it.
struct SolveRequest {
  const Instance& instance;
  Limits limits;
  Semantics semantics = Semantics::device;
  const LoadsOf* loads_of = nullptr;  // the original, if this is an instance with loads (problem/loads.h)
};

/// Why there is no plan, and the nearest limits that allow one. Fields are absent if they were not needed or
/// not found.
struct Explanation {
  std::optional<Bytes> floor_ram;  // the RAM floor: one op's operands, results and the persistent bytes
  OpId binding_op;                 // the op that needs floor_ram
  /// Infeasible: a lower bound on the RAM of every plan within the other limits.
  std::optional<Bytes> proven_ram;
  std::optional<Bytes> least_ram;         // a schedule is known at this RAM and the given deadline
  std::optional<Seconds> least_deadline;  // a schedule is known at this deadline and the given RAM
  std::optional<double> on_time;          // the largest share of steps that meet the deadline, of known plans
  std::string reason;                     // one sentence
};

/// A staged schedule, and the plan with its transfers at their best steps.
struct PlannedSchedule {
  Schedule schedule;
  Plan plan;
  Joules energy{};  // of the plan
};

struct Outcome {
  Certificate certificate;  // its energy is the optimiser's own measurement
  Schedule schedule;        // if optimal or feasible
  /// Device semantics: among all schedules found, the one whose plan needs the least energy. At most the
  /// energy of `schedule`.
  std::optional<PlannedSchedule> planned;
  Explanation explanation;
  double seconds_to_incumbent = 0;
  double solve_seconds = 0;
  bool timed_out = false;  // the time limit ended part of the search
  long nodes = 0;          // branch-and-bound nodes over all trees
  std::string solver;      // "none needed", "CBC 2.10.8"...
  std::string next_step;   // Solver::file: what to do with the files, or why they were not used; or empty
  /// Solver::file with a command: how often it was run, and its last answer; or empty.
  std::string external_solver;
};

}  // namespace poet
