#pragma once

// Transfers beside compute, for who decides what to page but not at which step.

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/plan/plan.h"

namespace poet {

/// For a device whose transfers run beside compute. `plan` has no waits and no frees: page-outs stand where
/// their values are complete, page-ins before they are wanted, each after the page-out of its value. The
/// canonical plan in which
/// - a value that is paged out gives its RAM back at the first computation after the transfer has ended; if
///   the RAM is wanted earlier, compute waits for the channel;
/// - page-ins keep their order and leave as early as the RAM budget allows from there to their use, but after
///   the last page-out.
/// Within the budget if `plan`, with page-outs that take no time, is. O(page-ins * steps + edges).
[[nodiscard]] Plan overlapped(const Instance& instance, const Plan& plan, const Limits& limits);

}  // namespace poet
