#pragma once

// Slices of the search, side by side.

#include <functional>
#include <vector>

namespace poet {

/// Runs all `slices`, at most `threads` (>= 1) at the same time: one after the other in the calling thread,
/// and in others that end with this. Slices begin in their order. While the calling thread waits for others,
/// it calls `poll` every few milliseconds. Signals are blocked in the other threads. Rethrows what the first
/// of the slices that threw has thrown, after all have ended. Where the system refuses a thread, there are
/// fewer.
void run_side_by_side(const std::vector<std::function<void()>>& slices, int threads,
                      const std::function<void()>& poll);

}  // namespace poet
