#pragma once

// The state of one solve: what is known so far, how long it may go on, and who wants to hear of it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/stop.h"
#include "poet/optimize/outcome.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/search/planned_transfers.h"
#include "poet/optimize/search/synchronous_search.h"

namespace poet {

/// By how much a relaxation's objective is lowered before it counts as a bound. Where the objective is scaled
/// as usual (baseline 1e4) this is less than the 1e-9 of the baseline below which a gap is none.
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

  /// Retimes the candidate's transfers (device semantics) and accepts it as incumbent if it is within the
  /// limits and better than the one before.
  bool offer(Candidate candidate);
  /// From now on, whenever another phase begins, transfers of a new incumbent are planned, but for large
  /// problems, where that takes its time; what the plan needs counts as known.
  void plan_transfers_of_incumbents(PlannedTransfers& plans) { plans_ = &plans; }
  /// From now on, what relaxations decide and rounds of search also make synchronous plans, which count as
  /// known; not for large problems.
  void search_synchronously(SynchronousSearch& synchronous) { synchronous_ = &synchronous; }
  [[nodiscard]] bool searches_synchronously() const { return synchronous_ != nullptr; }
  /// The best plan is synchronous.
  [[nodiscard]] bool synchronous_leads() const;
  /// See SynchronousSearch; nothing without one.
  void follow_synchronously(const Decisions& decided, const std::vector<GapMode>& modes);
  void go_on_synchronously(int doublings, std::uint64_t seed);
  /// No plan that first computes the ops in their order has less energy than this.
  void raise_bound(double joules);
  /// No staged schedule has less energy than this.
  void raise_staged_bound(double joules);

  [[nodiscard]] bool has_incumbent() const { return incumbent_.has_value(); }
  [[nodiscard]] const Candidate& incumbent() const { return *incumbent_; }
  /// The least of the incumbent's, its plans' (plan_transfers_of_incumbents()), the synchronous plans' and
  /// SolveOptions::known_joules; infinite without any.
  [[nodiscard]] double best_joules() const;
  [[nodiscard]] double bound() const { return bound_; }
  [[nodiscard]] double staged_bound() const { return std::max(bound_, staged_bound_); }
  /// What is known is within the gap asked for of the best plan, or of the best staged schedule
  /// (certificate.h).
  [[nodiscard]] bool proven() const { return gap_to(bound_) <= options_.gap; }
  [[nodiscard]] bool staged_proven() const { return gap_to(staged_bound()) <= options_.gap; }

  /// As it was given, with the time for reasons.
  [[nodiscard]] const Stop& stop() const { return stop_; }
  [[nodiscard]] double elapsed() const { return stop_.elapsed(); }
  /// Seconds left for the search: without an incumbent, what is kept for the reason (explain.h) is taken off.
  [[nodiscard]] double remaining() const {
    return stop_.remaining() - (best_joules() == kForever ? seconds_for_reason : 0);
  }
  /// Time is up or the caller has cancelled.
  [[nodiscard]] bool must_stop() const { return remaining() <= 0 || stop_.cancelled(); }
  /// Whether there is time for a pass over ops x live values: on more ops it takes more than a moment.
  [[nodiscard]] bool has_a_moment() const { return !is_large(problem_) || !must_stop(); }
  /// Nothing is left to do for whoever looks for staged schedules.
  [[nodiscard]] bool done() const { return staged_proven() || impossible() || must_stop(); }
  /// Nothing is left to do for whoever raises the bound on every plan.
  [[nodiscard]] bool bound_done() const { return proven() || impossible() || must_stop(); }
  /// A window relaxation has no point: no plan is within the limits, if a second solve agrees (explain.h).
  [[nodiscard]] bool impossible() const { return !impossible_windows.empty(); }

  void enter(const std::string& phase);
  /// Plans the transfers of the incumbent, if that has not been done.
  void plan_transfers_now();
  /// Tells the observer.
  void report() const;

  double seconds_for_reason = 0;
  double seconds_to_incumbent = 0;
  long nodes = 0;
  bool used_solver = false;
  std::string next_step;                // see Outcome
  std::vector<int> impossible_windows;  // the breakpoints of a window relaxation that has no point
  bool root_infeasible = false;         // says the full model's relaxation: no staged schedule

 private:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  [[nodiscard]] double staged_joules() const;
  [[nodiscard]] double synchronous_joules() const;
  [[nodiscard]] double gap_to(double bound) const;

  const Problem& problem_;
  const SolveOptions options_;
  Stop stop_;
  std::optional<Candidate> incumbent_;
  PlannedTransfers* plans_ = nullptr;
  SynchronousSearch* synchronous_ = nullptr;
  bool to_plan_ = false;  // the incumbent's transfers
  double bound_;
  double staged_bound_;
  std::string phase_;
};

}  // namespace poet
