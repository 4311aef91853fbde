#include "poet/refit_with_reserve.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "poet/load_problem.h"
#include "poet/optimize/search/synchronous.h"
#include "poet/plan/allowance.h"
#include "poet/plan/timing/timeline.h"
#include "poet/reserve.h"
#include "poet/solve_once.h"

namespace poet {
namespace {

std::optional<Plan> plan_with_reserve(const CompileRequest& request, const Decisions& decided, Bytes reserve,
                                      const Stop& stop) {
  const Limits& limits = request.limits;
  const Instance instance = with_reserve(request.instance, limits.ram_budget, reserve);
  SolveOptions options = request.options;
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

std::optional<PlacedPlan> refit_with_reserve(const CompileRequest& request, const Decisions& decided,
                                             Bytes over, const Stop& stop) {
  constexpr int kMostTries = 4;
  constexpr std::int64_t kLittleEffort = 500'000'000;
  const Instance& instance = request.instance;
  const Bytes room = transient_budget(instance.costs, request.limits);
  Bytes reserve = Bytes(over.value() + over.value() / 4);
  for (int i = 0; i < kMostTries && !stop(); ++i) {
    std::optional<Plan> plan = plan_with_reserve(request, decided, reserve, stop);
    if (!plan) break;
    const Timeline line = timeline_of(instance, *plan);
    Layout layout = place(instance, *plan, Semantics::device,
                          {.enough = line.peak,
                           .effort = kLittleEffort,
                           .room = {},
                           .stop = stop.at_most(stop.remaining() / 2)});
    const Bytes still = layout.arena - room;
    const Joules energy = energy_of(instance, *plan, line);
    if (still <= Bytes(0)) return PlacedPlan{std::move(*plan), energy, std::move(layout)};
    // `still` is an upper bound, as placing has little time.
    reserve += std::clamp(still, Bytes(reserve.value() / 4), reserve);
  }
  return std::nullopt;
}

}  // namespace poet
