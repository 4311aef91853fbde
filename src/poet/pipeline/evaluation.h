#pragma once

// The pass that evaluates a network between the steps of its training, in the memory of the training plan.

#include <functional>

#include "poet/plan/file/plan_file.h"

namespace poet {

/// The forward pass of a training instance as the trained network is used (autodiff/evaluation_part.h), with
/// the training's costs. Throws InputError as evaluation_part().
[[nodiscard]] Instance evaluation_instance(const Instance& training);

/// A plan for it in the arena of `training` and without a search: ops in their order, every result kept until
/// its last use, parameters where they are at home there. `adjust` sees the instance first, such as to charge
/// workspaces; may be empty. Throws InputError as above, and where the arena is too small.
[[nodiscard]] PlanFile evaluation_in_order(const PlanFile& training,
                                           const std::function<void(Instance&)>& adjust);

}  // namespace poet
