#include "poet/optimize/search/instant_transfers.h"

#include <utility>

#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/timing/overlap.h"
#include "poet/plan/timing/transfers.h"

namespace poet {

Problem instant_problem(const SolveRequest& request, const SolveOptions& options, double waiting) {
  Problem p = make_problem(request, options);
  for (std::size_t op = 0; op < p.joules.size(); ++op) p.joules[op] += p.idle_watts * p.seconds[op];
  for (std::size_t v = 0; v < p.in_joules.size(); ++v) {
    p.in_joules[v] += waiting * p.idle_watts * p.in_seconds[v];
    p.out_joules[v] += waiting * p.idle_watts * p.out_seconds[v];
  }
  p.idle_watts = p.wake_seconds = p.wake_joules = 0;
  p.semantics = Semantics::published;
  p.objective_scale = objective_scale(p);
  return p;
}

std::optional<SynchronousPlan> synchronous_plan(const SolveRequest& request, const Plan& steps,
                                                const Stop& stop) {
  const Instance& instance = request.instance;
  const Plan beside = instance.costs.timing.concurrent ? overlapped(instance, steps, request.limits)
                                                       : canonicalize(instance, steps, Semantics::device);
  SynchronousPlan made{};
  made.plan = plan_transfers(instance, beside, Semantics::device, request.limits, stop);
  const Timeline line = timeline_of(instance, made.plan);
  if (!keeps_limits(request, line)) return std::nullopt;
  made.energy = energy_of(instance, made.plan, line);
  return made;
}

std::optional<SynchronousPlan> synchronous_plan(const SolveRequest& request, const Problem& instant,
                                                const Candidate& candidate, const Stop& stop) {
  Schedule schedule = to_schedule(instant, request.instance, candidate);
  Plan steps = linearise(request.instance, schedule, Semantics::published);
  std::erase_if(steps.steps, [](const Step& step) { return step.kind == StepKind::free; });
  std::optional<SynchronousPlan> made = synchronous_plan(request, steps, stop);
  if (!made) return std::nullopt;
  made->schedule = std::move(schedule);
  made->decided = candidate.decisions;
  return made;
}

bool keeps_limits(const SolveRequest& request, const Timeline& line) {
  const Limits& limits = request.limits;
  return line.peak <= transient_budget(request.instance.costs, limits) &&
         (!limits.deadline || line.makespan <= latest_end(limits.deadline->value()));
}

}  // namespace poet
