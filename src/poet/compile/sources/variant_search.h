#pragma once

// The search in one variant, in steps: every plan of a small graph; plans from scratch (streaming passes,
// greedy, local search), then staged schedules with bounds, and plans near the solutions of relaxations.

#include <memory>
#include <optional>
#include <vector>

#include "poet/compile/ledger.h"
#include "poet/compile/proposal.h"
#include "poet/compile/sources/load_problem.h"
#include "poet/compile/variants/variant.h"
#include "poet/optimize/search/plans_from_scratch.h"
#include "poet/optimize/staged_search.h"

namespace poet {

class VariantSearch {
 public:
  /// The request, the clock and the ledger must outlive this.
  VariantSearch(Variant variant, const CompileRequest& request, Clock& clock, Ledger& ledger);
  VariantSearch(const VariantSearch&) = delete;
  VariantSearch& operator=(const VariantSearch&) = delete;

  [[nodiscard]] const Variant& variant() const { return variant_; }

  /// Runs a step, and records what it finds in `record`: the ledger, or a branch of it. Returns false,
  /// without one, if nothing is left.
  bool go_on(Ledger& record);
  /// Returns whether counting alone has shown that there is no plan.
  [[nodiscard]] bool is_impossible() const { return !impossible_.empty(); }
  /// Returns whether the next step is one of the quick ones: streaming passes, milliseconds per 1,000 ops.
  [[nodiscard]] bool is_quick() const;
  /// Returns whether it is the last of these, which takes as long as all others.
  [[nodiscard]] bool is_last_quick() const { return is_quick() && scratch_->is_last_quick(); }
  /// Returns whether the plans that come before bounds are found.
  [[nodiscard]] bool is_settled() const;
  /// Effort of the steps after the quick ones (optimize/effort.h).
  [[nodiscard]] double spent() const { return spent_; }
  /// That of the last one: the next one may take as much.
  [[nodiscard]] double effort_of_last() const { return spent_ > 0 ? step_effort_ : 0; }

  /// The energy of the best plan that has addresses or may have some: infinite without any. Plans that miss
  /// the deadline do not count.
  [[nodiscard]] double joules() const { return over() ? fitting_joules_ : joules_; }
  /// The same after the quick steps.
  [[nodiscard]] double quick_joules() const { return quick_joules_; }
  /// By how much the addresses of the best plan exceed the RAM budget, if they could not be repaired and the
  /// plan would save more than the gap; and by how much the best plan misses the deadline.
  [[nodiscard]] std::optional<Bytes> over() const;
  [[nodiscard]] std::optional<Seconds> late() const;
  /// Returns whether the best plan, whose addresses do not fit, has not been repaired; a step does that.
  [[nodiscard]] bool wants_addresses() const;

  /// Once the search has ended, or time is up: places the best plan again, with all effort, if its addresses
  /// do not fit, and repairs it and those that were the best before.
  void finish();
  /// Without a plan: the explanation, which may take a moment after the time limit; plans that it finds are
  /// offered, too. Closes the variant's scope if there is no plan.
  [[nodiscard]] Outcome explain();

 private:
  bool one_step();
  bool decide();
  void start_staged();
  [[nodiscard]] bool first_bound_is_due();
  void bound_at_first();
  bool next_step();
  void collect();
  void consider(Proposal proposal);
  [[nodiscard]] Stop end_of_step() const;
  [[nodiscard]] Stop time_to_plan() const;
  void fit(Proposal proposal);
  /// Returns whether a repair of a plan that is hardly worse was tried.
  [[nodiscard]] bool is_repaired(double joules) const {
    constexpr double kHardlyBetter = 0.995;
    return joules > kHardlyBetter * repaired_at_;
  }
  void place_again();
  void repair();
  void repair(const Decisions& decided, const Stop& stop);
  [[nodiscard]] bool takes_sequences() const;
  void consider(const std::vector<int>& computations);
  [[nodiscard]] Proposal proposal_of(const SynchronousPlan& plan) const;
  [[nodiscard]] std::optional<Proposal> placed_proposal() const;
  [[nodiscard]] std::optional<Proposal> staged_proposal();
  [[nodiscard]] const SynchronousPlan* best_synchronous() const;
  [[nodiscard]] bool is_too_late(Joules energy) const;

  const Variant variant_;
  const CompileRequest& request_;
  Clock& clock_;
  Ledger* ledger_;                    // or the branch of the step in progress
  std::optional<LoadProblem> loads_;  // if persistent values are paged
  SolveRequest problem_;              // without loads (loads_)
  SolveOptions options_;
  std::string impossible_;  // why the variant has no plan
  std::optional<PlansFromScratch> scratch_;
  std::optional<SynchronousSearch> near_;
  std::optional<StagedSearch> staged_;
  bool ended_ = false;
  bool decided_ = false;      // as far as decide() can
  bool bounded_ = false;      // by bound_at_first()
  bool has_no_plan_ = false;  // as decide() has found
  double spent_ = 0;
  double step_effort_ = 0;
  double joules_ = kInfinity, quick_joules_ = kInfinity;
  double fitting_joules_ = kInfinity;  // of plans with addresses
  // The energies last collected, by the sources' own clocks.
  double synchronous_joules_ = kInfinity, placed_joules_ = kInfinity, staged_joules_ = kInfinity;
  double sequence_joules_ = kInfinity;
  std::vector<Proposal> unfit_;                    // whose addresses do not fit, by increasing energy
  Bytes over_{};                                   // of the first
  double placed_with_ = 0, spent_on_placing_ = 0;  // effort: the last time, and placing plans again
  double repaired_at_ = kInfinity;                 // the energy of the plan repaired last
  std::optional<Seconds> late_;                    // delay of the cheapest plan
  long nodes_ = 0;                                 // counted already
};

}  // namespace poet
