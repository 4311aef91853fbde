#include "poet/optimize/quick_energy.h"

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/streaming_search.h"
#include "poet/optimize/problem/loads.h"
#include "poet/optimize/search/best_plan.h"
#include "poet/optimize/search/candidate_search.h"
#include "poet/optimize/search/streamed_plan.h"

namespace poet {

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
