#pragma once

// Waits and frees follow from the other steps of a plan and the graph, so plan files omit them.

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// Returns the plan with the waits that a device's channel requires: before a computation that reads a value
/// still arriving or writes one still being transferred, and before the free of memory that the channel still
/// reads. Redundant waits are removed. If transfers take no time of their own (other semantics, a channel
/// that blocks compute) none are added, and existing ones, which such plans must not have, are left for the
/// verifier to reject. O(steps + edges).
[[nodiscard]] Plan with_waits(const Instance& instance, const Plan& plan, Semantics semantics);

/// Returns the plan with its frees replaced by the earliest possible ones: an allocation ends after the last
/// computation that reads it and the end of its transfers, which is known after a wait; in staged semantics
/// after the stage's first computation; at once if transfers take no time of their own. A recomputed result
/// begins a new allocation. Frees at the same point are in order of values. Accepts any list of steps, even
/// if the verifier would reject it. O(steps + edges).
[[nodiscard]] Plan with_frees(const Instance& instance, const Plan& plan, Semantics semantics);

/// Returns the canonical form, in which plans are stored and compared.
[[nodiscard]] inline Plan canonicalize(const Instance& instance, const Plan& plan, Semantics semantics) {
  return with_frees(instance, with_waits(instance, plan, semantics), semantics);
}

}  // namespace poet
