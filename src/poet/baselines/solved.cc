#include "poet/baselines/solved.h"

#include "poet/optimize/solve.h"
#include "poet/plan/transfers.h"

namespace poet {

MethodAnswer solved_plan(const MethodRequest& request, const SolveOptions& options) {
  const Outcome outcome = solve({request.instance, request.limits, request.semantics}, options);
  MethodAnswer answer;
  if (outcome.status != Status::infeasible) answer.bound = outcome.bound;
  if (outcome.schedule.stages.empty()) {
    answer.reason = outcome.status == Status::infeasible ? "no schedule of this kind is within the limits"
                                                         : "no schedule found in the time allowed";
    return answer;
  }
  const Plan plan = linearise(request.instance, outcome.schedule, request.semantics);
  answer.plans.push_back(plan_transfers(request.instance, plan, request.semantics, request.limits));
  return answer;
}

}  // namespace poet
