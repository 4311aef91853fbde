#pragma once

// Fractional interval packing: intervals with bytes and a value are packed under a capacity that varies from
// op to op. As each interval covers consecutive ops, this is a network flow of bytes along the ops.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace poet {

struct PackedInterval {
  int first = 0;  // ops during which it takes RAM
  int last = 0;   // first <= last
  std::int64_t bytes = 0;
  double joules = 0;  // saved by keeping all of it
};

struct GapPacking {
  std::vector<double> price;  // per op: dual price of a byte of capacity, joules
  std::vector<double> kept;   // per interval: the fraction kept
  double saved = 0;           // upper bound for every packing, from the prices: valid at any solver accuracy
};

/// Packs the intervals. `capacity` >= 0, per op. A network simplex on ops + intervals arcs: up to a second
/// for 30,000 arcs. With thousands of arcs it runs in a child process and returns nullopt when stopped;
/// smaller problems do not poll `stop`.
[[nodiscard]] std::optional<GapPacking> pack_intervals(const std::vector<std::int64_t>& capacity,
                                                       const std::vector<PackedInterval>& intervals,
                                                       const std::function<bool()>& stop = {});

}  // namespace poet
