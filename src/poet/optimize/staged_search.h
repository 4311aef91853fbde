#pragma once

// The search for staged schedules and bounds on one problem, in steps.

#include <optional>
#include <vector>

#include "poet/optimize/gap_bound.h"
#include "poet/optimize/heuristic/heuristics.h"
#include "poet/optimize/outcome.h"
#include "poet/optimize/rounds.h"
#include "poet/optimize/search/planned_transfers.h"
#include "poet/optimize/search/search.h"
#include "poet/optimize/search/synchronous_search.h"

namespace poet {

/// What a problem is searched for. Plans alone have no rounds of solvers; a first bound has what takes
/// moments.
enum class Aim { plans_and_bound, plans, first_bound };

/// Effort is counted in simplex iterations and replays, not in seconds: equal input and options give the same
/// schedules and bounds after as many steps, unless `stop` ends one.
class StagedSearch {
 public:
  /// The request's instance and `synchronous` must outlive this. Where plans are reworked (regime.h),
  /// `synchronous` searches from the solutions of relaxations, and its plans count as incumbents; may be
  /// null. Throws InputError for the published formulation outside published semantics, and for a solver that
  /// is not built in.
  StagedSearch(const SolveRequest& request, const SolveOptions& options, const Stop& stop,
               SynchronousSearch* synchronous = nullptr, Aim aim = Aim::plans_and_bound);
  StagedSearch(const StagedSearch&) = delete;
  StagedSearch& operator=(const StagedSearch&) = delete;

  /// Runs a step: one of the methods that come first, or a round of all (rounds.h). Returns false, without a
  /// step, if nothing is left: the gap is reached, there is no schedule, or every method has ended.
  bool go_on();

  /// The search ends once a plan of that energy, known from elsewhere, is within the gap of the bound.
  void know(double joules) { search_.know(joules); }

  /// Sequences that are no staged schedules count as plans from now on (Search::sequence()).
  void accept_sequences() { search_.accept_sequences(); }

  [[nodiscard]] const Search& search() const { return search_; }
  /// The number of rounds so far, each of twice the effort of the one before.
  [[nodiscard]] int rounds() const { return rounds_ ? rounds_->count() : 0; }
  [[nodiscard]] double effort() const { return search_.effort; }
  /// Returns whether counting alone proves that there is no plan.
  [[nodiscard]] bool is_impossible() const { return impossible_; }
  /// Returns the plan of least energy of all schedules found so far, with its transfers scheduled; nullopt
  /// without a schedule. Its energy is that of the schedule where nothing is paged or transfers take no time.
  [[nodiscard]] std::optional<PlannedSchedule> best();

  /// Without a schedule, first explains why, if the options ask for that: takes seconds_for_reason(), and may
  /// find one. Call it once, at the end.
  [[nodiscard]] Outcome outcome();

 private:
  using Step = bool (StagedSearch::*)();  // returns whether it is to be repeated

  [[nodiscard]] std::vector<Step> steps(Aim aim) const;
  [[nodiscard]] static bool bounds_every_plan(Step step);
  [[nodiscard]] double microseconds_of(Step step) const;
  bool keep_everything();
  bool solve_the_published_model();
  bool solve_with_files();
  bool anneal_first();
  bool be_greedy();
  bool search_locally();
  bool bound_by_gaps();
  bool bound_by_first_gaps();
  bool relax_first_windows();
  bool go_round();

  const SolveRequest request_;
  const SolveOptions options_;
  const Problem problem_;
  Search search_;
  PlannedTransfers plans_;
  Heuristics heuristics_;
  std::optional<GapBound> gap_bound_;
  std::optional<Rounds> rounds_;
  Explanation explanation_;
  bool impossible_ = false;
  std::vector<Step> left_;  // the next one last
};

}  // namespace poet
