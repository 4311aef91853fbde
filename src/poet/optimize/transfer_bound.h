#pragma once

// Lower bounds on the bytes of parameters and optimiser state that every plan transfers in a step, derived in
// docs/bounds.md, "Bytes between RAM and storage". Activations do not count, as they may be recomputed.

#include "poet/cost/instance.h"

namespace poet {

struct TransferBound {
  Bytes read{};
  Bytes written{};
  Bytes both{};  // >= read + written: RAM that saves a read is not there to save a write
};

/// Lower bound for every device plan within this RAM, for any choice of resident values, including steps that
/// find values of the previous step in RAM. Zero if no value can be paged. O(uses * log(ops)).
[[nodiscard]] TransferBound least_transfers(const Instance& instance, Bytes ram_budget);

/// Lower bounds on a step.
struct StepBound {
  Seconds runtime{};
  Joules energy{};
};

/// Lower bounds for the same plans, from computing every op once and from least_transfers() at the cheapest
/// price per byte: the storage channel is busy that long, and idle power is drawn meanwhile.
/// O(least_transfers()).
[[nodiscard]] StepBound least_step(const Instance& instance, Bytes ram_budget);

}  // namespace poet
