#pragma once

// Transfers beside compute, for passes that decide what to page but not at which step.

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// Returns the canonical plan in which
/// - a value that is paged out gives its RAM back at the first computation after the transfer has ended; if
///   the RAM is wanted earlier, compute waits for the channel;
/// - page-ins keep their order and leave as early as the RAM budget allows from there to their use, but after
///   the last page-out.
/// The device's transfers must run beside compute. `plan` must have no waits and no frees; its page-outs are
/// where their values are complete, its page-ins before they are wanted, each after the page-out of its
/// value. The result is within the budget if `plan`, with page-outs that take no time, is. O(page-ins * steps
/// + edges).
[[nodiscard]] Plan overlapped(const Instance& instance, const Plan& plan, const Limits& limits);

}  // namespace poet
