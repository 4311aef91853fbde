#pragma once

// Which copies stay in RAM, when each of them would rather: intervals with bytes and a worth are packed under
// a capacity that changes from op to op, in parts if need be. As rows are ops and intervals consecutive ones,
// this is a flow of bytes along the ops.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace poet {

struct PackedInterval {
  int first = 0;  // ops during which it takes RAM
  int last = 0;   // first <= last
  std::int64_t bytes = 0;
  double joules = 0;  // what is saved by keeping all of it
};

struct GapPacking {
  std::vector<double> price;  // per op: joules a byte of capacity is worth
  std::vector<double> kept;   // per interval: the part that stays
  double saved = 0;  // no packing saves more; follows from the prices, whatever the solver's accuracy
};

/// `capacity`, per op, is at least 0. A network simplex on ops + intervals arcs: up to a second for 30,000 of
/// them. With thousands it runs in a child process, and nothing comes back where `stop` says so; fewer do not
/// ask.
[[nodiscard]] std::optional<GapPacking> pack_intervals(const std::vector<std::int64_t>& capacity,
                                                       const std::vector<PackedInterval>& intervals,
                                                       const std::function<bool()>& stop = {});

}  // namespace poet
