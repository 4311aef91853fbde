#pragma once

// The last pass of the main path: adds slack to the transfers of a verified plan.

#include <optional>

#include "poet/compile/request.h"
#include "poet/optimize/search/streamed_plan.h"

namespace poet {

/// Returns `plan`, an answer to the request, with slack (plan/timing/slack.h) and, if the request wants
/// addresses, with a layout that fits the RAM budget; nullopt if there is no such plan. The result is
/// verified: within the request's limits, and neither costlier nor slower than `plan`. Takes the time of
/// placing; ends soon after `stop`.
[[nodiscard]] std::optional<PlacedPlan> placed_with_slack(const CompileRequest& request,
                                                          const Instance& instance, const Plan& plan,
                                                          const Report& report, const Stop& stop);

}  // namespace poet
