#pragma once

// The least that parameters and optimiser state have to travel between RAM and storage in one step, whatever
// the plan: derived in docs/bounds.md, "Bytes between RAM and storage". Activations are not counted,
// they could be recomputed.

#include "poet/cost/instance.h"

namespace poet {

struct TransferBound {
  Bytes read{};
  Bytes written{};
  Bytes both{};  // >= read + written: what stays in RAM for the one takes room from the other
};

/// Of every plan in device semantics within so much RAM, whichever persistent values are resident in it and
/// whichever are in `instance`, steps that begin with values of the last one in RAM included. Nothing where
/// none can be paged. O(uses * log(ops)).
[[nodiscard]] TransferBound least_transfers(const Instance& instance, Bytes ram_budget);

/// What a step takes at least.
struct StepBound {
  Seconds runtime{};
  Joules energy{};
};

/// Of the same plans, by computing every op once and by these transfers, at what a byte costs where it costs
/// least: the storage's channel is busy so long, and idle power is drawn meanwhile. O(least_transfers()).
[[nodiscard]] StepBound least_step(const Instance& instance, Bytes ram_budget);

}  // namespace poet
