#include "poet/optimize/search/synchronous.h"

#include <algorithm>
#include <array>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/greedy.h"
#include "poet/optimize/heuristic/local_search.h"
#include "poet/optimize/heuristic/paging_search.h"
#include "poet/optimize/heuristic/streaming_search.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/search/plans_found.h"
#include "poet/optimize/search/streamed_plan.h"
#include "poet/plan/schedule/stages_of.h"

namespace poet {
namespace {

// Estimates of the share of a transfer's time during which compute waits. The plan determines the true share.
constexpr double kLikelyWaiting = 0.3;
constexpr std::array kWaiting = {0.0, kLikelyWaiting, 1.0};
// Shares of the RAM budget that a search leaves free: if RAM is full, no transfer can overlap compute.
constexpr std::array kHeldBack = {0.02, 0.05, 0.08, 0.12, 0.16, 0.3};
constexpr long kEvaluationsPerOp = 250;
constexpr long kMostEvaluations = 50'000;

/// Converts candidates to plans; keeps the best within the limits.
class BestPlan {
 public:
  BestPlan(const SolveRequest& request, const SolveOptions& options, const Stop& stop)
      : request_(request), options_(options), stop_(stop) {}

  void consider(const Problem& problem, const Candidate& candidate) {
    consider(problem, synchronous_plan(request_, problem, candidate, stop_of_planning(problem)));
  }

  void consider(const Problem& problem, const Stream& stream) {
    if (stream.addresses.empty()) {
      Plan steps = stream.plan;
      std::erase_if(steps.steps, [](const Step& step) {
        return step.kind == StepKind::free || step.kind == StepKind::wait;
      });
      std::optional<SynchronousPlan> made = synchronous_plan(request_, steps, stop_of_planning(problem));
      if (made && !is_large(problem)) made->decided = decisions_of(stages_of(request_.instance, steps));
      consider(problem, std::move(made));
      return;
    }
    PlacedPlan made;
    made.plan = plan_in_place(request_.instance, stream);
    const Timeline line = timeline_of(request_.instance, made.plan);
    if (!keeps_limits(request_, line)) return;
    made.energy = energy_of(request_.instance, made.plan, line);
    if (placed && placed->energy <= made.energy) return;
    made.layout = layout_of(request_.instance, made.plan, stream.addresses);
    placed = std::move(made);
  }

  [[nodiscard]] const SynchronousPlan* best() const { return found_.best(); }
  [[nodiscard]] std::optional<Joules> energy() const {
    return best() != nullptr ? std::optional(best()->energy) : std::nullopt;
  }
  [[nodiscard]] std::vector<SynchronousPlan> take() {
    found_.set_placed(std::move(placed));
    return found_.take();
  }

  std::optional<PlacedPlan> placed;

 private:
  // Small problems are planned even if time is up: without planned transfers a plan may miss the deadline.
  [[nodiscard]] Stop stop_of_planning(const Problem& problem) const {
    return is_large(problem) ? stop_ : stop_.when_cancelled();
  }

  void consider(const Problem& problem, std::optional<SynchronousPlan> made) {
    if (!made || !found_.is_better(*made)) return;
    found_.add(std::move(*made), stop_.elapsed());
    report(problem);
  }

  void report(const Problem& problem) const {
    if (!options_.on_progress) return;
    Progress progress;
    progress.phase = "synchronous paging";
    progress.bound_joules = progress.staged_bound_joules = problem.baseline_joules;
    progress.incumbent_joules = best()->energy.value();
    progress.elapsed_seconds = stop_.elapsed();
    options_.on_progress(progress);
  }

  const SolveRequest& request_;
  const SolveOptions& options_;
  const Stop& stop_;
  PlansFound found_;
};

/// Returns whether everything can be kept; for large problems by the peak alone, as candidates are expensive.
bool keeps_all(const Problem& problem) {
  if (!is_large(problem)) return complete(problem, no_decisions(problem)).within(problem);
  return keep_all_peak(problem) <= problem.budget && problem.in_time(problem.baseline_seconds);
}

bool is_below_floor(const Problem& problem) {
  const auto& needs = problem.working_sets;
  return std::any_of(needs.begin(), needs.end(), [&](std::int64_t need) { return need > problem.budget; });
}

/// Adds plans of streaming passes: the first one at once, then the best of some rounds. With an alignment,
/// the plans have addresses.
void search_streams(const Problem& problem, const Stop& stop, std::int64_t alignment, BestPlan& plans) {
  constexpr int kRounds = 12;
  constexpr int kQuickRounds = 6;  // these continue past the time limit until a plan is found
  const auto has_one = [&] { return alignment > 0 ? plans.placed.has_value() : plans.best() != nullptr; };
  StreamingSearch streams(problem, alignment);
  for (int round = 0; round < kRounds; ++round) {
    const bool first = round < kQuickRounds && !has_one() && !streams.best();
    if (first ? stop.cancelled() : stop()) break;
    const bool better = streams.improve(first ? stop.when_cancelled() : stop);
    if (first && better) plans.consider(problem, *streams.best());
  }
  if (streams.best() && !stop.cancelled()) plans.consider(problem, *streams.best());
}

/// Adds the plans of the best candidates of greedy and local search.
void search_candidates(const Problem& problem, const SolveOptions& options, const Stop& stop, BestPlan& plans,
                       double part_of_effort = 1) {
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

std::optional<Joules> quick_energy(const Instance& instance, const Limits& limits) {
  return quick_energy_within(kInfinity)(instance, limits);
}

QuickEnergy quick_energy_within(double seconds) {
  constexpr double kFewer = 1'000;
  constexpr double kFew = 4'000;
  constexpr double kPerSecond = 500;
  const int few_ops = static_cast<int>(std::clamp(kPerSecond * seconds, kFewer, kFew));
  return [few_ops](const Instance& instance, const Limits& limits) -> std::optional<Joules> {
    const auto answer = quick_answer([] { return false; }, instance, limits, few_ops);
    return answer ? std::optional(answer->energy) : std::nullopt;
  };
}

double quick_ops(double seconds) {
  constexpr double kLeast = 5'000;
  constexpr double kPerSecond = 10'000;
  const double for_the_largest = seconds / 2 / 2;
  return std::max(kLeast, for_the_largest * kPerSecond);
}

std::optional<QuickAnswer> quick_answer(const std::function<bool()>& stop, const Instance& instance,
                                        const Limits& limits, int few_ops) {
  constexpr int kRounds = 3;
  constexpr double kPartOfEffort = 0.04;
  const WithLoads loads = with_loads(instance);
  if (limits.max_bytes_written && *limits.max_bytes_written < loads.written_home) return std::nullopt;
  const LoadsOf of{instance, loads, limits};
  const SolveRequest with{loads.instance, limits_with_loads(loads, limits), Semantics::device, &of};
  const bool has_loads = loads.instance.graph.ops.size() > instance.graph.ops.size();
  const SolveOptions options;
  if (!has_loads) {
    const Problem problem = make_problem(with, options);
    if (keeps_all(problem)) return QuickAnswer{Joules(problem.baseline_joules), limits.ram_budget};
  }
  const SolveRequest request{instance, limits, Semantics::device};
  std::optional<QuickAnswer> best;
  const auto consider = [&](const Plan& with_loads) {
    const Plan plan = timed_without_loads(instance, loads, with_loads, limits);
    const Timeline line = timeline_of(instance, plan);
    if (!keeps_limits(request, line)) return;
    const Joules joules = energy_of(instance, plan, line);
    if (!best || joules < best->energy) best = {joules, instance.costs.persistent + line.peak};
  };
  for (const double waiting : kWaiting) {
    const Problem problem = instant_problem(with, options, waiting);
    if (problem.budget < 0 || is_below_floor(problem)) break;
    if (problem.ops <= few_ops && waiting == kLikelyWaiting) {
      const Stop when_stopped(kInfinity, stop);
      BestPlan plans(with, options, when_stopped);
      search_candidates(problem, options, when_stopped, plans, kPartOfEffort);
      if (plans.best() != nullptr) consider(plans.best()->plan);
    }
    StreamingSearch streams(problem, std::max<std::int64_t>(1, instance.costs.alignment.value()));
    for (int round = 0; round < kRounds && !stop(); ++round) streams.improve(stop);
    if (stop() || (!streams.best() && is_large(problem))) break;
    if (streams.best()) consider(streams.best()->plan);
    if (best && is_large(problem)) break;
  }
  return best;
}

}  // namespace poet
