#include "poet/optimize/search/candidate_search.h"

#include <algorithm>

#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/paging_search.h"

namespace poet {
namespace {

constexpr long kEvaluationsPerOp = 250;
constexpr long kMostEvaluations = 50'000;

}  // namespace

bool keeps_all(const Problem& problem) {
  return keep_all_peak(problem) <= problem.budget && problem.in_time(problem.baseline_seconds);
}

bool is_below_floor(const Problem& problem) {
  const auto& needs = problem.working_sets;
  return std::any_of(needs.begin(), needs.end(), [&](std::int64_t need) { return need > problem.budget; });
}

void search_candidates(const Problem& problem, const SolveOptions& options, const Stop& stop, BestPlan& plans,
                       double part_of_effort) {
  Search search(problem, options, stop);
  if (search.must_stop()) return;
  if (const auto first = greedy(problem, [&] { return search.must_stop(); })) search.offer(*first);
  if (plans.best() != nullptr && stop()) return;
  offer_paging_only(search);
  if (!search.has_incumbent()) return;
  // Considered before local search, too: a candidate that is cheaper without stalls may stall longer.
  const bool considered = plans.best() == nullptr;
  if (considered) plans.consider(problem, search.incumbent());
  const long evaluations = std::min(kEvaluationsPerOp * problem.ops, kMostEvaluations);
  const bool improved = local_search(
      search, {.evaluations = static_cast<long>(part_of_effort * static_cast<double>(evaluations))});
  if (plans.best() != nullptr && stop.cancelled() && !search.has_a_moment()) return;
  if (improved || !considered) plans.consider(problem, search.incumbent());
}

}  // namespace poet
