#pragma once

// The options of a solve.

#include <algorithm>
#include <functional>
#include <optional>

#include "poet/base/stop.h"
#include "poet/optimize/progress.h"
#include "poet/optimize/solvers/solver_choice.h"

namespace poet {

enum class Formulation {
  tight,      // docs/formulation.md: provenance, use-it-or-lose-it, rounding, lazy exact RAM rows
  published,  // POET's Algorithm 1 with Checkmate's memory rows; published semantics only
};

/// The tightenings of the tight formulation. Each is valid alone: switching one off may cost time, never the
/// optimum.
struct Tightenings {
  bool provenance = true;          // a RAM copy that came from storage needs the storage copy: D <= Stored
  bool use_it_or_lose_it = true;   // nothing is computed, retained or paged in without a use
  bool rounding = true;            // RAM rows are rounded by each large tensor size
  bool interval_retention = true;  // one retention variable per run of stages without an event of the value
  bool reduced_cost_fixing = true;
  bool windows = true;  // RAM at a few breakpoints, one recomputation per window
};

struct SolveOptions {
  double gap = 0.01;  // >= 0; the search ends once (energy - bound) / (energy - baseline) is at most this
  double time_limit_seconds = 120;  // > 0, infinity included; on the host
  int threads = 1;                  // >= 1; compile() searches in so many places at once
  bool paging = true;
  bool rematerialization = true;
  bool explain = true;  // without a schedule, search for the least RAM and the least deadline
  /// compile(): also search for plans that are not staged, with synchronous paging on devices, and every plan
  /// of a small graph.
  bool synchronous = true;
  Formulation formulation = Formulation::tight;
  Tightenings tightenings;
  Solver solver = Solver::cbc;
  FileSolver file;                    // for Solver::file
  OnProgress on_progress;             // may be empty
  std::function<bool()> interrupted;  // polled, may be empty; true cancels: the incumbent is the answer
};

/// Returns a Stop with the time limit, from now on, and the caller's cancellation.
[[nodiscard]] inline Stop stop_of(const SolveOptions& options) {
  return Stop(options.time_limit_seconds, options.interrupted);
}

/// Returns `share` of the time that remains, as a valid time limit: > 0.
[[nodiscard]] inline double time_limit_within(const Stop& stop, double share = 1) {
  constexpr double kLeast = 1e-3;
  return std::max(kLeast, share * stop.remaining());
}

}  // namespace poet
