#include "poet/optimize/search/best_plan.h"

#include <utility>

#include "poet/optimize/search/streamed_plan.h"
#include "poet/plan/schedule/stages_of.h"

namespace poet {

void BestPlan::consider(const Problem& problem, const Candidate& candidate) {
  consider(problem, synchronous_plan(request_, problem, candidate, stop_of_planning(problem)));
}

void BestPlan::consider(const Problem& problem, const Stream& stream) {
  if (!stream.addresses.empty()) return consider_placed(stream);
  Plan steps = stream.plan;
  std::erase_if(steps.steps,
                [](const Step& step) { return step.kind == StepKind::free || step.kind == StepKind::wait; });
  std::optional<SynchronousPlan> made = synchronous_plan(request_, steps, stop_of_planning(problem));
  if (made && problem.regime.reworks_plans) made->decided = decisions_of(stages_of(request_.instance, steps));
  consider(problem, std::move(made));
}

void BestPlan::consider_placed(const Stream& stream) {
  PlacedPlan made;
  made.plan = plan_in_place(request_.instance, stream);
  const Timeline line = timeline_of(request_.instance, made.plan);
  if (!keeps_limits(request_, line)) return;
  made.energy = energy_of(request_.instance, made.plan, line);
  if (placed_ && placed_->energy <= made.energy) return;
  made.layout = layout_of(request_.instance, made.plan, stream.addresses);
  placed_ = std::move(made);
}

std::optional<Joules> BestPlan::energy() const {
  return best() != nullptr ? std::optional(best()->energy) : std::nullopt;
}

// Even if time is up, where that takes a moment: without planned transfers a plan may miss the deadline.
Stop BestPlan::stop_of_planning(const Problem& problem) const {
  return problem.regime.overruns ? stop_.when_cancelled() : stop_;
}

void BestPlan::consider(const Problem& problem, std::optional<SynchronousPlan> made) {
  if (!made || !found_.is_better(*made)) return;
  found_.add(std::move(*made));
  report(problem);
}

void BestPlan::report(const Problem& problem) const {
  if (!options_.on_progress) return;
  Progress progress;
  progress.phase = "synchronous paging";
  progress.bound_joules = progress.staged_bound_joules = problem.baseline_joules;
  progress.incumbent_joules = best()->energy.value();
  progress.elapsed_seconds = stop_.elapsed();
  options_.on_progress(progress);
}

}  // namespace poet
