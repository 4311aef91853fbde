#include "poet/baselines/compute_order.h"

#include "poet/plan/canonical.h"

namespace poet {

Plan plan_of_order(const MethodRequest& request, const std::vector<OpId>& order) {
  Plan plan;
  plan.steps.reserve(order.size());
  for (const OpId op : order) plan.steps.push_back({StepKind::compute, op, ValueId()});
  return canonicalize(request.instance, plan, request.semantics);
}

}  // namespace poet
