#pragma once

// A plan that has addresses, in place of one that leaves no RAM for what is lost between them.

#include <optional>

#include "poet/compile.h"
#include "poet/optimize/problem/candidate.h"
#include "poet/optimize/search/streamed_plan.h"

namespace poet {

/// What a plan decided whose addresses need `over` more RAM than there is, made to fit with so much in
/// reserve, and with more, up to four times, until the addresses fit; without decisions what greedy decides.
/// Nothing where they do not. Device semantics; not verified, and may end after the deadline. O(fitted() +
/// place()) each time.
[[nodiscard]] std::optional<PlacedPlan> roomy_plan(const CompileRequest& request, const Decisions& decided,
                                                   Bytes over, const Stop& stop);

}  // namespace poet
