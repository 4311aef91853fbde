#pragma once

// Slices of the search, side by side.

#include <functional>
#include <future>
#include <system_error>
#include <vector>

#include "poet/base/process/signals_blocked.h"

namespace poet {

/// Runs all `slices`, at most `threads` (>= 1) at the same time: one after the other in the calling thread,
/// and in others that end with this. Slices begin in their order. While the calling thread waits for others,
/// it calls `poll` every few milliseconds. Signals are blocked in the other threads. Rethrows what the first
/// of the slices that threw has thrown, after all have ended. Where the system refuses a thread, there are
/// fewer.
void run_side_by_side(const std::vector<std::function<void()>>& slices, int threads,
                      const std::function<void()>& poll);

/// Begins `work` in a thread of its own, in which signals are blocked. The result waits for it. Where the
/// system refuses a thread, the one that asks for the result does the work.
template <class Work>
[[nodiscard]] auto begin_beside(const Work& work) {
  const SignalsBlocked blocked;
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, work);
  }
}

}  // namespace poet
