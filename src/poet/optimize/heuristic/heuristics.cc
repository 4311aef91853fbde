#include "poet/optimize/heuristic/heuristics.h"

#include <algorithm>
#include <utility>

#include "poet/optimize/heuristic/local_search.h"

namespace poet {
namespace {

// Effort of the first round, in units independent of the clock. The time per change grows with the number of
// ops; the limits keep a round within seconds. Without paging, no other method is as good, so it gets more.
long changes_of_oscillation(const Problem& problem) {
  constexpr double kEffort = 2e10;  // changes x ops x ops
  const long ops = std::max(problem.ops, 1);
  if (problem.paging) return std::min(200 * ops, 20'000L);
  return std::min(400 * ops, static_cast<long>(kEffort / static_cast<double>(ops * ops)));
}

}  // namespace

long evaluations_of_local_search(const Problem& problem) {
  constexpr long kPerOp = 1'000;
  constexpr long kMost = 100'000;
  constexpr int kLarge = 2'000;  // ops; beyond, one evaluation counts for several
  return std::min(kPerOp * problem.ops, kMost) / (1 + problem.ops / kLarge);
}

Heuristics::Heuristics(Search& search) : search_(search), problem_(search.problem()) {
  if (!problem_.transfers_take_time() && problem_.regime.anneals) oscillation_.emplace(problem_, 1);
}

void Heuristics::begin() {
  if (mends()) return;
  search_.enter("strategic oscillation");
  constexpr long kFirst = 20'000;
  constexpr long kDoublings = 3;
  constexpr long kPerOp = 1'000;  // the effort needed grows with the graph
  const long first = std::min(400L * problem_.ops, kFirst);
  long left = std::max(first << kDoublings, kPerOp * problem_.ops);
  for (long changes = first; changes < left && !search_.has_incumbent() && !search_.must_stop();
       changes *= 2) {
    oscillate(*oscillation_, changes);
    left -= changes;
  }
}

void Heuristics::go_on(int doublings, unsigned seed) {
  if (mends()) {
    search_.enter("local search");
    local_search(search_, {.evaluations = evaluations_of_local_search(problem_) << doublings, .seed = seed});
  }
  if (!oscillation_ || search_.done()) return;
  search_.enter("strategic oscillation");
  if (search_.has_incumbent()) oscillation_->start_from(search_.incumbent().decisions);
  oscillate(*oscillation_, changes_of_oscillation(problem_) << doublings);
  if (search_.done()) return;
  Oscillation afresh(problem_, seed + 1);
  oscillate(afresh, changes_of_oscillation(problem_) << doublings);
}

void Heuristics::oscillate(Oscillation& oscillation, long changes) {
  if (!oscillation.run(changes, [this] { return search_.done(); })) return;
  if (auto found = oscillation.best()) search_.offer(std::move(*found));
}

}  // namespace poet
