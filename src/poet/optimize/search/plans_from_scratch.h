#pragma once

// Plans with synchronous (op-granular) paging: compute waits between two ops until a value has left.
//
// In a staged schedule a transfer holds RAM during whole stages, so that it can overlap compute. If RAM is
// scarce, a plan that waits for each page-out before it continues does better: it needs only the RAM of the
// paper's instantaneous transfers. So schedules are searched for under the paper's RAM rule (with scratch
// memory), and their transfers then overlap compute as far as RAM allows.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "poet/base/stop.h"
#include "poet/optimize/heuristic/streaming_search.h"
#include "poet/optimize/options.h"
#include "poet/optimize/search/best_plan.h"

namespace poet {

/// Searches in steps, for several estimates of the idle energy of transfers: streaming passes first, which
/// are quick and assign addresses; then greedy and local search; then those with a part of RAM left free,
/// into which the planner moves transfers. Effort is counted in passes and evaluations.
class PlansFromScratch {
 public:
  /// The request's instance must outlive this. Device semantics. `options` say which mechanisms are allowed.
  PlansFromScratch(const SolveRequest& request, const SolveOptions& options, const Stop& stop);
  PlansFromScratch(const PlansFromScratch&) = delete;
  PlansFromScratch& operator=(const PlansFromScratch&) = delete;

  /// Runs a step. Returns false, without one, if nothing is left or `stop` says so. If a plan is wanted at
  /// any time, the first steps, of milliseconds per 1,000 ops, continue until one is found even if time is
  /// up.
  bool go_on(bool at_any_time = true);

  /// Returns whether the next step is one of the streaming passes that come first.
  [[nodiscard]] bool is_quick() const { return !prepared_ || left_.size() > slow_; }
  /// Returns whether the next step is the last of these, which takes as long as all others: a little of the
  /// search that follows them, or in large graphs more passes.
  [[nodiscard]] bool is_last_quick() const { return prepared_ && left_.size() == slow_ + 1; }

  /// The effort of the last step (optimize/effort.h).
  [[nodiscard]] double effort_of_last() const { return effort_of_last_; }

  /// Returns null if there is none.
  [[nodiscard]] const SynchronousPlan* best() const { return plans_.best(); }
  /// The best plan of a streaming pass, with its addresses.
  [[nodiscard]] const std::optional<PlacedPlan>& placed() const { return plans_.placed(); }
  /// Returns the best plan and some earlier best ones, by increasing energy (plans_found.h).
  [[nodiscard]] std::vector<SynchronousPlan> take() { return plans_.take(); }

 private:
  /// The problem for an estimate of how long compute waits for transfers.
  struct Guess {
    Problem problem;
    std::optional<StreamingSearch> streams, with_addresses;
  };
  using Step = std::function<bool()>;  // returns whether it did anything

  void prepare();
  [[nodiscard]] Guess& guess(std::size_t waiting);
  [[nodiscard]] StreamingSearch& streams_with_addresses(Guess& of) const;
  bool find_the_first(Guess& of);
  bool stream(Guess& of, int rounds);
  bool search_a_little();
  bool search(Guess& of);
  bool hold_back(double share);

  const SolveRequest request_;
  const SolveOptions options_;  // without progress reports
  const Stop stop_;
  BestPlan plans_;
  std::vector<std::unique_ptr<Guess>> guesses_;  // of kWaiting, once needed
  const Guess* best_guess_ = nullptr;            // the last with which candidates were better
  bool prepared_ = false;
  bool at_any_time_ = true;  // go_on()
  double effort_of_last_ = 0;
  std::vector<Step> left_;  // the next one last
  std::size_t slow_ = 0;    // of all steps
};

/// Runs all steps; returns the plans. Empty if everything fits, nothing can be paged, or no plan is found.
[[nodiscard]] std::vector<SynchronousPlan> search_synchronous(const SolveRequest& request,
                                                              const SolveOptions& options, const Stop& stop);

/// Returns the best plan from repairing decisions that exceed the request's RAM, or of greedy if there are no
/// decisions; nullopt if none is found. O(greedy_from()).
[[nodiscard]] std::optional<SynchronousPlan> fitted(const SolveRequest& request, const SolveOptions& options,
                                                    const Decisions& decisions, const Stop& stop);

}  // namespace poet
