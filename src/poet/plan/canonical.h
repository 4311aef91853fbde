#pragma once

// Waits and frees follow from the rest of a plan. Whoever knows the graph can derive them, so plan files
// leave them out.

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// The plan with every wait that a device's channel makes necessary and that it does not have: before a
/// computation that reads what is still arriving or writes what is still moving, and before RAM is given back
/// that the channel still reads. Of its own waits those go that nothing is left to wait for. Where transfers
/// take no time of their own (other semantics, a channel that blocks compute) there is nothing to add, and
/// its own waits, which no such plan may have, are left for the verifier to refuse. O(steps + edges).
[[nodiscard]] Plan with_waits(const Instance& instance, const Plan& plan, Semantics semantics);

/// The plan with its frees replaced by the earliest possible ones: an allocation ends after the last
/// computation that reads it and, where the channel moves it, once that is known to have ended: after the
/// wait that says so; in staged semantics after the stage's first computation; at once where transfers take
/// no time of their own. A result that is computed anew begins a new allocation. Frees of one moment are in
/// order of values. Any list of steps is taken, also one that the verifier would reject. O(steps + edges).
[[nodiscard]] Plan with_frees(const Instance& instance, const Plan& plan, Semantics semantics);

/// Both: the one form in which plans are stored and compared.
[[nodiscard]] inline Plan canonicalize(const Instance& instance, const Plan& plan, Semantics semantics) {
  return with_frees(instance, with_waits(instance, plan, semantics), semantics);
}

}  // namespace poet
