#pragma once

// The state of one solve: incumbent, bounds, time and progress reports.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/base/stop.h"
#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/problem/sequence.h"
#include "poet/optimize/search/planned_transfers.h"
#include "poet/optimize/search/synchronous_search.h"

namespace poet {

/// Returns by how much a relaxation's objective is lowered before it counts as a bound. With the usual scale
/// (baseline 1e4) this is below 1e-9 of the baseline, which counts as no gap.
[[nodiscard]] inline double solver_tolerance(double objective) {
  return std::min(1e-7 * std::abs(objective), 5e-6);
}

class Search {
 public:
  /// Ends with `stop`, whatever the time limit of `options`. `problem` must outlive this.
  Search(const Problem& problem, SolveOptions options, Stop stop);
  /// The time limit of `options` begins now.
  Search(const Problem& problem, const SolveOptions& options) : Search(problem, options, stop_of(options)) {}

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const SolveOptions& options() const { return options_; }

  /// Retimes the candidate's transfers (device semantics) and accepts it as the incumbent if it is within the
  /// limits and cheaper than the incumbent. Returns whether it was accepted.
  bool offer(Candidate candidate);
  /// Accepts the sequence, if it is within the limits and cheaper than everything known, once
  /// accept_sequences() was called: it need not be a staged schedule. Returns whether it was accepted.
  bool offer(Sequence sequence);
  void accept_sequences() { accepts_sequences_ = true; }
  /// The best of them, if any.
  [[nodiscard]] const std::optional<Sequence>& sequence() const { return sequence_; }
  /// From now on, plans the transfers of a new incumbent whenever a phase begins. The plan's
  /// energy counts for best_joules().
  void plan_transfers_of_incumbents(PlannedTransfers& plans) { plans_ = &plans; }
  /// From now on, also searches for synchronous plans, from solutions of relaxations and in rounds. Their
  /// energy counts for best_joules().
  void search_synchronously(SynchronousSearch& synchronous) { synchronous_ = &synchronous; }
  [[nodiscard]] bool searches_synchronously() const { return synchronous_ != nullptr; }
  /// Returns whether the best plan is synchronous.
  [[nodiscard]] bool synchronous_leads() const;
  /// See SynchronousSearch. They do nothing without one.
  void follow_synchronously(const Decisions& decided, const std::vector<GapMode>& modes);
  void go_on_synchronously(int doublings, std::uint64_t seed);
  /// Counts a plan of that energy, known from elsewhere, for best_joules().
  void know(double joules) { known_ = std::min(known_, joules); }
  /// Raises the lower bound on every plan.
  void raise_bound(double joules);
  /// Raises the lower bound on staged schedules.
  void raise_staged_bound(double joules);

  [[nodiscard]] bool has_incumbent() const { return incumbent_.has_value(); }
  [[nodiscard]] const Candidate& incumbent() const { return *incumbent_; }
  /// Returns the least energy of the incumbent, its plans (plan_transfers_of_incumbents()), the sequences,
  /// the synchronous plans and known ones; infinite without any.
  [[nodiscard]] double best_joules() const;
  /// Returns the same of the incumbent and its plans alone.
  [[nodiscard]] double best_staged_joules() const { return staged_joules(); }
  [[nodiscard]] double bound() const { return bound_; }
  [[nodiscard]] double staged_bound() const { return std::max(bound_, staged_bound_); }
  /// Returns whether best_joules() is within the requested gap of the bound on every plan, or on staged
  /// schedules (certificate.h).
  [[nodiscard]] bool proven() const { return gap_to(bound_) <= options_.gap; }
  [[nodiscard]] bool staged_proven() const { return gap_to(staged_bound()) <= options_.gap; }

  /// The given stop, which includes the time for an explanation.
  [[nodiscard]] const Stop& stop() const { return stop_; }
  [[nodiscard]] double elapsed() const { return stop_.elapsed(); }
  /// Seconds left for the search: without an incumbent, less the time for an explanation (explain.h).
  [[nodiscard]] double remaining() const {
    return stop_.remaining() - (best_joules() == kInfinity ? seconds_for_reason : 0);
  }
  /// Returns whether time is up or the caller has cancelled.
  [[nodiscard]] bool must_stop() const { return remaining() <= 0 || stop_.cancelled(); }
  /// Returns whether there is time for a pass over ops x live values (Regime::overruns).
  [[nodiscard]] bool has_a_moment() const { return problem_.regime.overruns || !must_stop(); }
  /// Returns whether the search for staged schedules may end.
  [[nodiscard]] bool done() const { return staged_proven() || impossible() || must_stop(); }
  /// Returns whether the search for a bound on every plan may end.
  [[nodiscard]] bool bound_done() const { return proven() || impossible() || must_stop(); }
  /// Returns whether a window relaxation is infeasible. Then no plan is within the limits, if a second solve
  /// confirms it (explain.h).
  [[nodiscard]] bool impossible() const { return !impossible_windows.empty(); }

  void enter(const std::string& phase);
  /// Plans the transfers of the incumbent, unless that has been done.
  void plan_transfers_now();
  /// Calls the progress callback.
  void report() const;

  double seconds_for_reason = 0;
  double seconds_to_incumbent = 0;
  long nodes = 0;
  double effort = 0;  // optimize/effort.h
  bool used_solver = false;
  std::string next_step;                // see Outcome
  std::string external_solver;          // see Outcome
  std::vector<int> impossible_windows;  // the breakpoints of an infeasible window relaxation
  bool root_infeasible = false;         // of the full model's relaxation: there is no staged schedule

 private:
  [[nodiscard]] double staged_joules() const;
  [[nodiscard]] double synchronous_joules() const;
  [[nodiscard]] double gap_to(double bound) const;

  const Problem& problem_;
  const SolveOptions options_;
  Stop stop_;
  std::optional<Candidate> incumbent_;
  PlannedTransfers* plans_ = nullptr;
  SynchronousSearch* synchronous_ = nullptr;
  bool to_plan_ = false;  // the incumbent's transfers are not planned yet
  bool accepts_sequences_ = false;
  std::optional<Sequence> sequence_;
  double known_ = kInfinity;
  double bound_;
  double staged_bound_;
  std::string phase_;
};

}  // namespace poet
