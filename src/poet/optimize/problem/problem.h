#pragma once

// The optimiser's view of a solve: plain integers and doubles, indexed like the graph (op t = stage t, value
// v = its ValueId). Everything that no decision can change is already taken out.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "poet/optimize/outcome.h"
#include "poet/optimize/regime.h"

namespace poet {

/// A paged persistent value, brought by a load, that could be resident instead.
struct Resident {
  int value = -1;
  double joules = 0;       // saved by residence: its first load and its page-out after the update
  std::int64_t bytes = 0;  // of RAM taken by residence, not aligned
};

struct Problem {
  int ops = 0;
  int values = 0;
  Regime regime = regime_of(0);  // of so many ops

  // Per op.
  std::vector<std::vector<int>> reads;   // distinct active values
  std::vector<std::vector<int>> writes;  // distinct active values
  std::vector<int> recompute_until;      // last stage in which recomputing it is useful; the op itself: none
  std::vector<double> seconds;
  std::vector<double> joules;
  std::vector<std::int64_t> workspace;  // 0 outside device semantics
  // Active values that its first result may overwrite (plan/overwritable.h); none outside device semantics.
  std::vector<std::vector<int>> overwritable;
  std::vector<int> first_result;           // of ops that may overwrite something; else -1
  std::vector<std::int64_t> working_sets;  // RAM while it runs, at least: operands, results, workspace; one
                                           // operand less where the first result may be written over it

  // Per value. Inactive values (persistent, views, without bytes) never appear in reads or writes.
  std::vector<char> active;
  std::vector<int> producer;            // -1 for inactive values
  std::vector<std::vector<int>> users;  // increasing
  std::vector<int> horizon;  // last stage in which the value can be read; its producer if it is unread
  std::vector<std::int64_t> bytes;
  std::vector<double> in_joules, out_joules, in_seconds, out_seconds;

  // For bounds on every choice of resident values (problem/residence.h); else empty.
  std::vector<Resident> residents;

  // The whole.
  std::int64_t budget = 0;  // for active values and workspace: the RAM budget less persistent bytes
  std::int64_t persistent = 0;
  std::string persistent_of = CostTable().persistent_of;  // what `persistent` counts
  double deadline = std::numeric_limits<double>::infinity();
  std::int64_t max_bytes_written = std::numeric_limits<std::int64_t>::max();
  Semantics semantics = Semantics::device;
  double objective_scale = 1;  // of model objectives, which count joules above the baseline
  bool paging = true;
  bool concurrent = true;
  double idle_watts = 0;
  /// Before the first transfer of a burst. The replay charges every wake-up, the models at most the first.
  double wake_seconds = 0;
  double wake_joules = 0;
  double baseline_seconds = 0;  // every op once
  double baseline_joules = 0;   // idle energy of that time included

  [[nodiscard]] bool transfers_take_ram() const { return semantics != Semantics::published; }
  [[nodiscard]] bool transfers_take_time() const { return semantics == Semantics::device; }
  [[nodiscard]] bool waiting_costs() const {
    return transfers_take_time() && (idle_watts > 0 || deadline < std::numeric_limits<double>::infinity());
  }
  /// With the tolerance of the replays.
  [[nodiscard]] bool in_time(double end) const { return end <= latest_end(deadline); }
  /// The latest end that meets the deadline, but not before the baseline's.
  [[nodiscard]] double latest() const { return std::max(baseline_seconds, latest_end(deadline)); }
};

/// Returns the factor that scales objectives (joules above the baseline) into a solver's range. O(ops +
/// values).
[[nodiscard]] double objective_scale(const Problem& problem);

/// O(ops + values + edges).
[[nodiscard]] Problem make_problem(const SolveRequest& request, const SolveOptions& options);

/// Returns the RAM that the op needs while it runs, whatever the schedule: a lower bound on the budget.
[[nodiscard]] inline std::int64_t working_set(const Problem& problem, int op) {
  return problem.working_sets[static_cast<std::size_t>(op)];
}

/// Returns the peak RAM of computing every op once and keeping values until their last use. O(ops + edges).
[[nodiscard]] std::int64_t keep_all_peak(const Problem& problem);

}  // namespace poet
