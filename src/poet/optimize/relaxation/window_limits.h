#pragma once

// Deadline, idle power, the storage channel and wear in the window relaxation.

#include "poet/optimize/relaxation/windows.h"

namespace poet {

/// Adds to a model that has its columns:
///   the step takes as long as its computations; with a channel beside compute, as long as its transfers;
///   with a channel that blocks, as both; idle power runs all the while; deadline; bytes written.
/// Where there is a channel beside compute, also when each breakpoint op starts, and per pair of breakpoints
/// that the transfers that must lie between them do not take longer than what lies between them.
void add_limits(const Problem& problem, const StageWindows& windows, WindowModel& model);

}  // namespace poet
