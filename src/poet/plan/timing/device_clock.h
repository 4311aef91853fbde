#pragma once

// The rule of time in device semantics (docs/formulation.md, section 1): one compute engine and one FIFO
// channel. Functions are inline, as local search calls them millions of times.

#include <algorithm>

namespace poet {

/// Seconds from the beginning of the step.
struct TransferInterval {
  double begin = 0;
  double end = 0;
};

/// Every member function is O(1).
struct DeviceClock {
  double wake_seconds = 0;  // before the first transfer of a burst
  bool concurrent = true;   // transfers run beside compute

  double now = 0;      // of the compute engine
  double channel = 0;  // end of the last transfer issued
  double stalled = 0;  // compute waited for the channel
  int wakes = 0;       // bursts of the channel

  /// Puts a transfer on the channel, which wakes up first if it has been at rest.
  TransferInterval transfer(double seconds) {
    const bool rested = wakes == 0 || channel < now;
    const double begin = rested ? now : channel;
    channel = begin + (rested ? wake_seconds : 0) + seconds;
    wakes += rested ? 1 : 0;
    if (!concurrent) wait_until(channel);
    return {begin, channel};
  }

  /// Lets compute wait; does nothing if `time` has passed.
  void wait_until(double time) {
    if (time <= now) return;
    stalled += time - now;
    now = time;
  }

  void compute(double seconds) { now += seconds; }

  [[nodiscard]] double makespan() const { return std::max(now, channel); }
};

}  // namespace poet
