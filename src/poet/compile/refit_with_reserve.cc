#include "poet/compile/refit_with_reserve.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "poet/compile/sources/load_problem.h"
#include "poet/compile/variants/reserve.h"
#include "poet/optimize/search/plans_from_scratch.h"
#include "poet/plan/allowance.h"
#include "poet/plan/timing/timeline.h"

namespace poet {
namespace {

std::optional<Plan> plan_with_reserve(const Instance& whole, const Limits& limits, SolveOptions options,
                                      const Decisions& decided, Bytes reserve, const Stop& stop) {
  const Instance instance = with_reserve(whole, limits.ram_budget, reserve);
  if (!has_paged(instance)) {
    std::optional<SynchronousPlan> made =
        fitted({instance, limits, Semantics::device}, options, decided, stop);
    return made ? std::optional(std::move(made->plan)) : std::nullopt;
  }
  const LoadProblem with(instance, limits, options.rematerialization);
  options.rematerialization = true;
  const auto made = fitted(with.request(Semantics::device), options, decided, stop);
  return made ? std::optional(planned_without_loads(with.of(), made->plan, stop)) : std::nullopt;
}

}  // namespace

std::optional<PlacedPlan> refit_with_reserve(const Instance& instance, const Limits& limits,
                                             const SolveOptions& options, const Decisions& decided,
                                             Bytes over, const Stop& stop) {
  constexpr int kMostTries = 4;
  constexpr std::int64_t kLittleEffort = 50'000'000;
  const Bytes room = transient_budget(instance.costs, limits);
  Bytes reserve = Bytes(over.value() + over.value() / 4);
  for (int i = 0; i < kMostTries && !stop(); ++i) {
    std::optional<Plan> plan = plan_with_reserve(instance, limits, options, decided, reserve, stop);
    if (!plan) break;
    const Timeline line = timeline_of(instance, *plan);
    Layout layout = place(
        instance, *plan, Semantics::device,
        {.enough = std::max(Bytes(line.peak), room), .effort = kLittleEffort, .room = {}, .stop = stop});
    const Bytes still = layout.arena - room;
    const Joules energy = energy_of(instance, *plan, line);
    if (still <= Bytes(0)) return PlacedPlan{std::move(*plan), energy, std::move(layout)};
    // `still` is an upper bound, as placing has little time.
    reserve += std::clamp(still, Bytes(reserve.value() / 4), reserve);
  }
  return std::nullopt;
}

}  // namespace poet
