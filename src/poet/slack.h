#pragma once

// The last pass of the main path: a verified plan whose transfers have slack.

#include <optional>

#include "poet/compile.h"
#include "poet/optimize/search/streamed_plan.h"

namespace poet {

/// `plan`, an answer to the request, with slack (plan/timing/slack.h) and, if the request wants some, with
/// addresses that fit its RAM budget. Nothing where no slack can be had so. Within the request's limits and
/// with no more energy than `plan`, by the verifier. Takes what placing takes; ends soon after `stop`.
[[nodiscard]] std::optional<PlacedPlan> placed_with_slack(const CompileRequest& request, const Plan& plan,
                                                          const Report& report, const Stop& stop);

}  // namespace poet
