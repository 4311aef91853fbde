#include "poet/optimize/search/synchronous_search.h"

#include <algorithm>
#include <array>
#include <utility>

#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/local_search.h"

namespace poet {
namespace {

// Estimates of the share of a transfer's time during which compute waits.
constexpr std::array kWaitingAfterAnswers = {0.0, 0.1, 0.3};
// Effort of one annealing.
constexpr long kEvaluationsPerOpOfAnswer = 50;
constexpr long kMostEvaluationsOfAnswer = 20'000;
constexpr int kSeedsOfAnswer = 3;  // annealed in sequence, each from the previous result

}  // namespace

const std::vector<Problem>& SynchronousSearch::instants() {
  if (instants_.empty())
    for (const double waiting : kWaitingAfterAnswers)
      instants_.push_back(instant_problem(request_, options_, waiting));
  return instants_;
}

bool SynchronousSearch::follow(const Decisions& decided, const std::vector<GapMode>& modes,
                               const std::function<bool()>& stop) {
  bool better = false;
  starts_.clear();
  for (std::size_t i = 0; i < instants().size() && !stop(); ++i) {
    const Problem& instant = instants_[i];
    Candidate start = complete(instant, decided);
    if (start.within(instant)) better |= consider(instant, start);
    std::optional<Candidate> mended = greedy_from(instant, modes, stop);
    if (mended) better |= consider(instant, *mended);
    if (mended && (!start.within(instant) || mended->joules < start.joules)) start = std::move(*mended);
    if (start.within(instant)) starts_.push_back({i, std::move(start)});
  }
  for (int seed = 1; seed <= kSeedsOfAnswer; ++seed)
    better |= anneal_starts(0, static_cast<std::uint64_t>(seed), stop);
  return better;
}

bool SynchronousSearch::go_on(int doublings, std::uint64_t seed, const std::function<bool()>& stop) {
  bool better = anneal_starts(doublings, seed + kSeedsOfAnswer, stop);
  for (const Problem& instant : instants()) {
    if (stop() || best() == nullptr || best()->decided.recompute.empty()) break;
    const Candidate start = complete(instant, best()->decided);
    if (!start.within(instant)) continue;
    const Candidate found = annealed(instant, start, doublings, seed, stop);
    if (found.joules < start.joules) better |= consider(instant, found);
  }
  return better;
}

bool SynchronousSearch::anneal_starts(int doublings, std::uint64_t seed, const std::function<bool()>& stop) {
  bool better = false;
  for (Start& start : starts_) {
    if (stop()) break;
    const Problem& instant = instants_[start.instant];
    Candidate found = annealed(instant, start.candidate, doublings, seed, stop);
    if (found.joules >= start.candidate.joules) continue;
    start.candidate = std::move(found);
    better |= consider(instant, start.candidate);
  }
  return better;
}

bool SynchronousSearch::consider(const Problem& instant, const Candidate& candidate) {
  std::optional<SynchronousPlan> made =
      synchronous_plan(request_, instant, candidate, stop_.when_cancelled());
  if (!made || !found_.is_better(*made)) return false;
  found_.add(std::move(*made));
  return true;
}

Candidate SynchronousSearch::annealed(const Problem& instant, const Candidate& start, int doublings,
                                      std::uint64_t seed, const std::function<bool()>& stop) {
  const long evaluations = std::min(kEvaluationsPerOpOfAnswer * instant.ops, kMostEvaluationsOfAnswer)
                           << std::min(doublings, 20);
  return anneal(instant, start, {.evaluations = evaluations, .seed = seed}, stop);
}

}  // namespace poet
