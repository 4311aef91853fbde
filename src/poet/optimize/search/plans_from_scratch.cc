#include "poet/optimize/search/plans_from_scratch.h"

#include <algorithm>
#include <array>
#include <utility>

#include "poet/optimize/effort.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/search/candidate_search.h"

namespace poet {
namespace {

// Shares of the RAM budget that a search leaves free: if RAM is full, no transfer can overlap compute.
constexpr std::array kHeldBack = {0.02, 0.05, 0.08, 0.12, 0.16, 0.3};
constexpr int kPasses = 12;  // streaming passes

SolveOptions quiet(SolveOptions options) {
  options.on_progress = nullptr;
  return options;
}

}  // namespace

PlansFromScratch::PlansFromScratch(const SolveRequest& request, const SolveOptions& options, const Stop& stop)
    : request_(request), options_(quiet(options)), stop_(stop), plans_(request_, options, stop_) {}

// Chooses the steps.
void PlansFromScratch::prepare() {
  constexpr int kFew = 3;
  prepared_ = true;
  guesses_.resize(kWaiting.size());
  const Problem& problem = guess(0).problem;
  if (!problem.paging || keeps_all(problem) || is_below_floor(problem)) return;
  std::vector<Step> steps;
  const auto for_each_guess = [&](auto step) {
    for (std::size_t i = 0; i < kWaiting.size(); ++i)
      steps.push_back([this, step, i] { return step(guess(i)); });
  };
  const int rounds = problem.regime.takes_turns ? 1 : kPasses - kFew;  // in a step
  for_each_guess([this](Guess& of) { return find_the_first(of); });
  // The likeliest guess comes last, for what follows.
  for (const std::size_t i : {std::size_t{0}, kLikely})
    steps.emplace_back([this, i] { return stream(guess(i), kFew); });
  if (problem.regime.searches_beside_passes) steps.emplace_back([this] { return search_a_little(); });
  const std::size_t quick = steps.size();
  steps.emplace_back([this] { return stream(guess(kWaiting.size() - 1), kFew); });
  for (int round = kFew; round < kPasses; round += rounds)
    for_each_guess([this, rounds](Guess& of) { return stream(of, rounds); });
  for_each_guess([this](Guess& of) { return search(of); });
  for (const double share : kHeldBack) steps.push_back([this, share] { return hold_back(share); });
  slow_ = steps.size() - quick;
  left_.assign(std::make_move_iterator(steps.rbegin()), std::make_move_iterator(steps.rend()));
}

bool PlansFromScratch::go_on(bool at_any_time) {
  at_any_time_ = at_any_time;
  if (!prepared_) prepare();
  while (!left_.empty()) {
    const Step step = std::move(left_.back());
    left_.pop_back();
    if (step()) return true;
  }
  return false;
}

PlansFromScratch::Guess& PlansFromScratch::guess(std::size_t waiting) {
  std::unique_ptr<Guess>& made = guesses_[waiting];
  if (!made) {
    made = std::make_unique<Guess>();
    made->problem = instant_problem(request_, options_, kWaiting[waiting]);
  }
  return *made;
}

StreamingSearch& PlansFromScratch::streams_with_addresses(Guess& of) const {
  const std::int64_t alignment = std::max<std::int64_t>(1, request_.instance.costs.alignment.value());
  if (!of.with_addresses) of.with_addresses.emplace(of.problem, alignment);
  return *of.with_addresses;
}

bool PlansFromScratch::find_the_first(Guess& of) {
  constexpr int kQuickRounds = 6;
  if (plans_.has_placed()) return false;
  effort_of_last_ = effort_per_op(3, of.problem.ops);
  const Stop stop = at_any_time_ ? stop_.when_cancelled() : stop_;
  StreamingSearch& streams = streams_with_addresses(of);
  for (int round = 0; round < kQuickRounds && !streams.best() && !stop(); ++round)
    if (streams.improve(stop)) plans_.consider(of.problem, *streams.best());
  return true;
}

bool PlansFromScratch::stream(Guess& of, int rounds) {
  if (stop_()) return false;
  const double microseconds = of.problem.regime.takes_turns ? 20 : 7;
  effort_of_last_ = effort_per_op(microseconds * rounds, of.problem.ops);
  if (!of.streams) of.streams.emplace(of.problem);
  for (StreamingSearch* streams : {&*of.streams, &streams_with_addresses(of)}) {
    bool better = false;
    for (int round = 0; round < rounds && !stop_(); ++round) better |= streams->improve(stop_);
    if (better && !stop_.cancelled()) plans_.consider(of.problem, *streams->best());
  }
  return true;
}

// Where streaming passes do badly, a little of the search that follows says how it will do.
bool PlansFromScratch::search_a_little() {
  constexpr double kPartOfEffort = 0.04;
  Guess& of = guess(kLikely);
  if (stop_()) return false;
  effort_of_last_ = effort_per_op(80, of.problem.ops);
  search_candidates(of.problem, options_, stop_, plans_, kPartOfEffort);
  return true;
}

bool PlansFromScratch::search(Guess& of) {
  if (stop_() || (!of.problem.regime.searches_beside_passes && plans_.best() != nullptr)) return false;
  const std::optional<Joules> before = plans_.energy();
  effort_of_last_ = effort_per_op(700, of.problem.ops);
  search_candidates(of.problem, options_, stop_, plans_);
  if (plans_.energy() != before) best_guess_ = &of;
  return true;
}

bool PlansFromScratch::hold_back(double share) {
  constexpr double kPartOfEffort = 0.3;
  if (stop_() || best_guess_ == nullptr || !request_.instance.costs.timing.concurrent) return false;
  if (!best_guess_->problem.regime.searches_beside_passes) return false;
  Problem problem = best_guess_->problem;
  problem.budget -= static_cast<std::int64_t>(share * static_cast<double>(problem.budget));
  if (is_below_floor(problem)) return false;
  effort_of_last_ = effort_per_op(250, problem.ops);
  search_candidates(problem, options_, stop_, plans_, kPartOfEffort);
  return true;
}

std::vector<SynchronousPlan> search_synchronous(const SolveRequest& request, const SolveOptions& options,
                                                const Stop& stop) {
  PlansFromScratch search(request, options, stop);
  while (search.go_on()) {
  }
  return search.take();
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
