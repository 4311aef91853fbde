#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "poet/baselines/chain.h"
#include "poet/baselines/method.h"

namespace poet {

// Binomial checkpointing, Griewank and Walther 2000 (Algorithm 799, ACM TOMS 26(1)): optimal in the number of
// repeated steps for a chain of equal steps. `snapshots` counts the initial state, as in the paper.

/// beta(s, r) = C(s + r, s): the most steps that s snapshots and r repetitions of each can reverse. Saturates
/// at the largest 64-bit number.
[[nodiscard]] std::int64_t revolve_reach(std::int64_t snapshots, std::int64_t repetitions);

/// r: the least for which revolve_reach() is at least `steps`. `snapshots` is positive.
[[nodiscard]] std::int64_t revolve_repetitions(std::int64_t steps, std::int64_t snapshots);

/// t(l, s) = r l - C(s + r, s + 1): forward steps taken besides the l that go with a reversal.
[[nodiscard]] std::int64_t revolve_advances(std::int64_t steps, std::int64_t snapshots);

/// How far to advance from a stored state before storing the next one, with `steps` > 1 still to be reversed
/// from there and `snapshots` places in all, the stored state's included: 1 to steps - 1. The authors'
/// program (class Offline) decides in the same way; where several answers are optimal, this is theirs.
[[nodiscard]] std::int64_t revolve_stride(std::int64_t steps, std::int64_t snapshots);

/// The whole schedule of a chain with that many snapshots. Reversing a step computes it once more from its
/// input, keeping what its backward ops read ("youturn").
[[nodiscard]] std::vector<OpId> revolve_order(const Chain& chain, std::size_t snapshots);

/// One plan per number of snapshots from the number of blocks down to one, as long as they differ: the paper
/// counts snapshots, not bytes, so which of them fit is the verifier's to say. O(blocks³ * ops per block).
[[nodiscard]] MethodAnswer revolve(const MethodRequest& request);

}  // namespace poet
