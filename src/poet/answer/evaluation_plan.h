#pragma once

// The best plan of the pass that evaluates a network between the steps of its training.

#include <functional>

#include "poet/plan/file/plan_file.h"

namespace poet {

/// Of evaluation_instance() (pipeline/evaluation.h), within the memory of `training`: its arena, parameters
/// where they are at home there, and nothing written to storage where that can be. `adjust` sees the instance
/// first, such as to charge workspaces; may be empty, as `interrupted`, which is polled and cancels. Takes
/// half a minute at most for each of the two. Throws InputError as evaluation_instance(), and where no such
/// plan is found, with what one needs.
[[nodiscard]] PlanFile plan_evaluation(const PlanFile& training, const std::function<void(Instance&)>& adjust,
                                       const std::function<bool()>& interrupted = {});

}  // namespace poet
