#pragma once

// What goes into a solve and what comes out of it.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "poet/base/stop.h"
#include "poet/cost/instance.h"
#include "poet/optimize/certificate.h"
#include "poet/optimize/solvers/solver_choice.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"
#include "poet/plan/schedule/schedule.h"

namespace poet {

enum class Formulation {
  tight,      // docs/formulation.md: provenance, use-it-or-lose-it, rounding, lazy exact RAM rows
  published,  // POET's Algorithm 1 with Checkmate's memory rows; published semantics only
};

/// Every tightening of the tight formulation, each valid alone: switching one off may cost time, never the
/// optimum.
struct Tightenings {
  bool provenance = true;         // a RAM copy that came from storage needs the storage copy: D <= Stored
  bool use_it_or_lose_it = true;  // nothing is computed, kept or paged in without a use
  bool rounding = true;           // RAM rows rounded by each large tensor size
  bool interval_retention =
      true;  // one retention variable per run of stages in which nothing can happen to the value
  bool reduced_cost_fixing = true;
  bool windows = true;  // RAM at a few breakpoints, one recomputation per window
};

/// A moment of a solve, for progress display. Joules include everything that the semantics charges.
struct Progress {
  std::string phase;
  std::optional<double> incumbent_joules;     // of this search's best; addresses for it may not fit
  std::optional<double> bound_joules;         // no plan needs less
  std::optional<double> staged_bound_joules;  // no staged schedule needs less
  double elapsed_seconds = 0;
  std::optional<double> plan_joules = std::nullopt;  // compile(): of the best plan so far whose addresses fit
};

/// There is a plan of so much energy, addresses included.
inline void keep_least(Progress& progress, Joules plan) {
  progress.plan_joules = std::min(plan.value(), progress.plan_joules.value_or(plan.value()));
}

using OnProgress = std::function<void(const Progress&)>;

/// Tells what `change` makes of it; nobody, where nobody is told.
[[nodiscard]] inline OnProgress changed(OnProgress tell, std::function<void(Progress&)> change) {
  if (!tell) return tell;
  return [tell = std::move(tell), change = std::move(change)](Progress progress) {
    change(progress);
    tell(progress);
  };
}

/// What is sought of a large problem, on which each takes long; of others always both.
enum class Aim { plan_and_bound, plan, bound };

struct SolveOptions {
  double gap = 0.01;                // stop when (energy - bound) / (energy - baseline) is proven below this
  double time_limit_seconds = 120;  // on the host
  int threads = 1;
  bool paging = true;
  bool rematerialization = true;
  bool explain = true;  // without a schedule, look for the least RAM and the least deadline
  Aim aim = Aim::plan_and_bound;
  /// compile() on a device: also plans with synchronous paging, which are no staged schedules.
  bool synchronous = true;
  /// solve(): an answer of so much energy is there already; the search ends when it is proven good enough.
  std::optional<double> known_joules;
  Formulation formulation = Formulation::tight;
  Tightenings tightenings;
  Solver solver = Solver::cbc;
  FileSolver file;                    // for Solver::file
  OnProgress on_progress;             // called from the solving thread
  std::function<bool()> interrupted;  // polled; true: stop and return the best schedule so far
};

/// The time limit, from now on, and the caller's cancellation.
[[nodiscard]] inline Stop stop_of(const SolveOptions& options) {
  return Stop(options.time_limit_seconds, options.interrupted);
}

struct LoadsOf;

struct SolveRequest {
  const Instance& instance;
  Limits limits;
  Semantics semantics = Semantics::device;
  const LoadsOf* loads_of =
      nullptr;  // what the instance stands for (problem/loads.h), where it is one with loads
};

/// Why there is no answer, or what the least limits are. Fields are absent when they were not needed or not
/// found.
struct Explanation {
  std::optional<Bytes> floor_ram;   // no plan exists below: one op's operands, results and what is persistent
  OpId binding_op;                  // the op that needs floor_ram
  std::optional<Bytes> proven_ram;  // infeasible: no plan within the other limits needs less
  std::optional<Bytes> least_ram;   // a schedule is known at this RAM and the given deadline
  std::optional<Seconds> least_deadline;  // a schedule is known at this deadline and the given RAM
  std::optional<double> on_time;          // a plan is known of which this share of steps ends by the deadline
  std::string reason;                     // one sentence
};

/// A staged schedule, and the plan that it becomes once its transfers run at their best moments.
struct PlannedSchedule {
  Schedule schedule;
  Plan plan;
  Joules energy{};  // of the plan
};

struct Outcome {
  Certificate certificate;  // its energy is the optimiser's own measurement
  Schedule schedule;        // when optimal or feasible
  /// Device semantics: of all schedules that were found, the one whose plan needs the least energy. Never
  /// more than `schedule` needs.
  std::optional<PlannedSchedule> planned;
  Explanation explanation;
  double seconds_to_incumbent = 0;
  double solve_seconds = 0;
  bool timed_out = false;  // the search was ended by its time limit, and not by itself
  long nodes = 0;          // branch-and-bound nodes over all trees
  std::string solver;      // "none needed", "CBC 2.10.8"...
  std::string next_step;   // Solver::file: what the user is to do now; one sentence, or empty
};

}  // namespace poet
