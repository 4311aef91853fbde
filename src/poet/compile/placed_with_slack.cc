#include "poet/compile/placed_with_slack.h"

#include <utility>

#include "poet/plan/allowance.h"
#include "poet/plan/timing/slack.h"

namespace poet {

std::optional<PlacedPlan> placed_with_slack(const CompileRequest& request, const Instance& instance,
                                            const Plan& plan, const Report& report, const Stop& stop) {
  if (request.semantics != Semantics::device) return std::nullopt;
  PlacedPlan slack;
  slack.plan = with_slack(instance, plan, request.limits, stop);
  if (slack.plan.steps == plan.steps) return std::nullopt;
  constexpr double kTolerance = 1e-9;
  const Report found = replay(instance, slack.plan, request.semantics, request.limits);
  if (!found.valid || found.energy > (1 + kTolerance) * report.energy ||
      found.runtime > (1 + kTolerance) * report.runtime)
    return std::nullopt;
  slack.energy = found.energy;
  if (!request.addresses) return slack;
  PlaceOptions options;
  options.enough = found.peak_ram - instance.costs.persistent;
  options.room = transient_budget(instance.costs, request.limits);
  options.effort /= 10;  // there is a plan already
  options.stop = stop;
  slack.layout = place(instance, slack.plan, request.semantics, options);
  if (!replay_layout(instance, slack.plan, slack.layout, request.semantics, request.limits).valid)
    return std::nullopt;
  return slack;
}

}  // namespace poet
