#pragma once

// How fast bytes arrive now: over a second, so that a client that has sent much and stopped is not taken for
// a fast one.

#include <cstddef>
#include <limits>

namespace poet::server {

struct Arrival {
  double since = 0;       // when the current second began
  std::size_t bytes = 0;  // in it
  double rate =
      std::numeric_limits<double>::infinity();  // bytes per second of the one before; the first: infinite
};

/// Ends the current second once it is over, whether something has arrived or not.
inline void tick(Arrival& arrival, double now) {
  if (now - arrival.since < 1) return;
  arrival.rate = static_cast<double>(arrival.bytes) / (now - arrival.since);
  arrival.since = now;
  arrival.bytes = 0;
}

}  // namespace poet::server
