#pragma once

// The best plan of the pass that evaluates a network between training steps.

#include <functional>

#include "poet/plan/file/plan_file.h"

namespace poet {

/// Returns a plan of evaluation_instance() (pipeline/evaluation.h) within the memory of `training`: its
/// arena, with parameters at home where they are in training, and without writes to storage if possible.
/// `adjust` may change the instance first, e.g. to charge workspaces; `interrupted` is polled and cancels;
/// both may be empty. At most 30 s each with and without writes. Throws InputError as evaluation_instance(),
/// and if no plan is found, with the RAM that one needs.
[[nodiscard]] PlanFile plan_evaluation(const PlanFile& training, const std::function<void(Instance&)>& adjust,
                                       const std::function<bool()>& interrupted = {});

}  // namespace poet
