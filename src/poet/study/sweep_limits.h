#pragma once

// From the wishes of a spec to limits, once the instance is there.

#include <optional>

#include "poet/cost/instance.h"
#include "poet/plan/limits.h"
#include "poet/referee/replay.h"
#include "poet/study/sweep_point.h"

namespace poet {

/// No plan needs less: the most that the operands and results of one op take, its workspace in device
/// semantics, and what is persistent. O(ops + edges).
[[nodiscard]] Bytes least_ram(const Instance& instance, Semantics semantics);

/// A part of the RAM counts from `least` (0) to the peak of `keep_all` (1) and is cut off to whole bytes; a
/// factor multiplies the time of `keep_all`. `storage`, if known, limits what can be written, because every
/// page-out needs a place of its own.
[[nodiscard]] Limits limits_of(const SweepPoint& point, Bytes least, const Report& keep_all,
                               std::optional<Bytes> storage);

}  // namespace poet
