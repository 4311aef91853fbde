#pragma once

// The steps of a plan as the events of a plan file's SCHEDULE section: what deviates from computing every op
// once, in order. docs/formats_plan.md says what they mean; decoder/poet_plan.h reads them.

#include <cstdint>
#include <vector>

#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/plan.h"

namespace poet {

/// Events of `plan`'s steps without its frees, about one byte per deviation. A wait must be for a value with
/// a transfer before it. `values`: of the graph. O(steps).
[[nodiscard]] std::vector<std::uint8_t> events_of(const Plan& plan, std::size_t values);

/// The steps of an opened plan, without frees. O(steps).
[[nodiscard]] Plan steps_of(const poet_plan& opened);

}  // namespace poet
