#include "poet/baselines/solved.h"

#include <utility>

#include "poet/optimize/solve_plan.h"

namespace poet {

MethodAnswer solved_plan(const MethodRequest& request, const SolveOptions& options) {
  PlannedOutcome planned = solve_plan({request.instance, request.limits, request.semantics}, options);
  const Outcome& outcome = planned.outcome;
  MethodAnswer answer;
  const bool infeasible = outcome.certificate.status == Status::infeasible;
  if (!infeasible) answer.bound = outcome.certificate.bounds.every_plan;
  if (planned.plan.steps.empty()) {
    answer.reason = infeasible ? "no schedule of this kind is within the limits"
                               : "no schedule found in the time allowed";
    return answer;
  }
  answer.plans.push_back(std::move(planned.plan));
  return answer;
}

}  // namespace poet
