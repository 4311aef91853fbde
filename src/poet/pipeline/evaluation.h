#pragma once

// The pass that evaluates a network between training steps, in the memory of the training plan.

#include <functional>

#include "poet/plan/file/plan_file.h"

namespace poet {

/// Returns the forward pass of a training instance in inference mode (autodiff/evaluation_part.h), with the
/// training's costs. Throws InputError as evaluation_part().
[[nodiscard]] Instance evaluation_instance(const Instance& training);

/// Returns a plan for it in the arena of `training`, without a search: ops in their order, every result kept
/// until its last use, parameters at home where they are in training. `adjust` may change the instance first,
/// e.g. to charge workspaces; may be empty. Throws InputError as above, and if the arena is too small.
[[nodiscard]] PlanFile evaluation_in_order(const PlanFile& training,
                                           const std::function<void(Instance&)>& adjust);

}  // namespace poet
