#include "poet/optimize/search/synchronous.h"

#include <algorithm>
#include <array>
#include <utility>

#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/streaming_search.h"
#include "poet/optimize/search/best_plan.h"
#include "poet/optimize/search/candidate_search.h"

namespace poet {
namespace {

// Shares of the RAM budget that a search leaves free: if RAM is full, no transfer can overlap compute.
constexpr std::array kHeldBack = {0.02, 0.05, 0.08, 0.12, 0.16, 0.3};

/// Adds plans of streaming passes: the first one at once, then the best of some rounds. With an alignment,
/// the plans have addresses.
void search_streams(const Problem& problem, const Stop& stop, std::int64_t alignment, BestPlan& plans) {
  constexpr int kRounds = 12;
  constexpr int kQuickRounds = 6;  // these continue past the time limit until a plan is found
  const auto has_one = [&] { return alignment > 0 ? plans.has_placed() : plans.best() != nullptr; };
  StreamingSearch streams(problem, alignment);
  for (int round = 0; round < kRounds; ++round) {
    const bool first = round < kQuickRounds && !has_one() && !streams.best();
    if (first ? stop.cancelled() : stop()) break;
    const bool better = streams.improve(first ? stop.when_cancelled() : stop);
    if (first && better) plans.consider(problem, *streams.best());
  }
  if (streams.best() && !stop.cancelled()) plans.consider(problem, *streams.best());
}

/// Searches with less RAM than the budget; the planner uses the rest to overlap transfers with compute.
void hold_back(const SolveRequest& request, const SolveOptions& options, double waiting, const Stop& stop,
               BestPlan& plans) {
  constexpr double kPartOfEffort = 0.3;
  if (!request.instance.costs.timing.concurrent) return;
  const Problem whole = instant_problem(request, options, waiting);
  for (const double share : kHeldBack) {
    Problem problem = whole;
    problem.budget -= static_cast<std::int64_t>(share * static_cast<double>(whole.budget));
    if (stop() || is_below_floor(problem)) return;
    search_candidates(problem, options, stop, plans, kPartOfEffort);
  }
}

}  // namespace

std::vector<SynchronousPlan> search_synchronous(const SolveRequest& request, const SolveOptions& options,
                                                const Stop& stop) {
  // Share of the time left per search; bounds need most of the time. Plans without addresses get a small
  // part, as they seldom fit addresses later.
  const double part_of_large = options.aim == Aim::plan ? 0.25 : 0.08;
  constexpr double kPartWithout = 0.3;  // of that share, for plans without addresses
  const std::int64_t alignment = std::max<std::int64_t>(1, request.instance.costs.alignment.value());
  BestPlan plans(request, options, stop);
  SolveOptions quiet = options;
  quiet.on_progress = nullptr;
  std::optional<double> best_waiting;
  for (const double waiting : kWaiting) {
    if (stop()) break;
    const std::optional<Joules> before = plans.energy();
    const Problem problem = instant_problem(request, options, waiting);
    if (!problem.paging || keeps_all(problem) || is_below_floor(problem)) break;
    const auto part = [&](double share) {
      return is_large(problem) ? stop.at_most(share * part_of_large * stop.remaining()) : stop;
    };
    search_streams(problem, part(kPartWithout), 0, plans);
    search_streams(problem, part(1), alignment, plans);
    // Candidates of large problems are expensive, and solve() also searches for some.
    if (!is_large(problem) || plans.best() == nullptr) search_candidates(problem, quiet, stop, plans);
    if (!is_large(problem) && plans.energy() != before) best_waiting = waiting;
  }
  if (best_waiting) hold_back(request, quiet, *best_waiting, stop, plans);
  return plans.take();
}

std::optional<SynchronousPlan> fitted(const SolveRequest& request, const SolveOptions& options,
                                      const Decisions& decisions, const Stop& stop) {
  std::optional<SynchronousPlan> best;
  for (const double waiting : kWaiting) {
    const Problem problem = instant_problem(request, options, waiting);
    if (stop() || is_below_floor(problem)) break;
    const std::optional<Candidate> candidate = decisions.recompute.empty()
                                                   ? greedy(problem, [&] { return stop(); })
                                                   : greedy_from(problem, decisions, stop);
    if (!candidate || !candidate->within(problem)) continue;
    std::optional<SynchronousPlan> made = synchronous_plan(request, problem, *candidate, stop);
    if (made && (!best || made->energy < best->energy)) best = std::move(made);
  }
  return best;
}

}  // namespace poet
