#include "poet/optimize/search/instant_transfers.h"

#include <cstddef>
#include <utility>

#include "poet/optimize/problem/loads.h"
#include "poet/plan/allowance.h"
#include "poet/plan/canonical.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/plan/timing/overlap.h"
#include "poet/plan/timing/transfers.h"

namespace poet {

namespace {

/// Charges idle energy for an estimated share of the loads' time: the problem models concurrent loads as
/// taking no time, but compute may wait for them.
void charge_loads(const LoadsOf& of, double waiting, Problem& p) {
  if (!of.original.costs.timing.concurrent) return;
  for (const OpId op : ids<OpId>(of.loads.loads.size())) {
    const ValueId v = of.loads.loads[op];
    if (!v.valid()) continue;
    p.joules[static_cast<std::size_t>(op.index)] +=
        waiting * p.idle_watts * of.original.costs.values[v].page_in.seconds.value();
  }
}

}  // namespace

Problem instant_problem(const SolveRequest& request, const SolveOptions& options, double waiting) {
  Problem p = make_problem(request, options);
  for (std::size_t op = 0; op < p.joules.size(); ++op) p.joules[op] += p.idle_watts * p.seconds[op];
  for (std::size_t v = 0; v < p.in_joules.size(); ++v) {
    p.in_joules[v] += waiting * p.idle_watts * p.in_seconds[v];
    p.out_joules[v] += waiting * p.idle_watts * p.out_seconds[v];
  }
  if (request.loads_of != nullptr) charge_loads(*request.loads_of, waiting, p);
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
  made.energy = request.loads_of != nullptr ? energy_without_loads(*request.loads_of, made.plan, stop)
                                            : energy_of(instance, made.plan, line);
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
