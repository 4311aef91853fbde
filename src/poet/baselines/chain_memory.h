#pragma once

// RAM and cost of a chain's blocks: RAM as counted by the verifier for a plan that frees everything as early
// as possible.

#include <array>
#include <vector>

#include "poet/baselines/chain.h"
#include "poet/plan/limits.h"

namespace poet {

/// Figures of one block. Peaks are the most bytes at any instant of the activity, its input included; what
/// others hold outside the block (earlier blocks' saved values, checkpoints, gradients) is not.
/// Arrays over `first`: [1] the block's first computation, which runs all ops; [0] a repetition, which leaves
/// out those that nobody needs. Arrays over `keep`: [1] the input stays, [0] it leaves after its last use.
struct BlockMemory {
  Bytes input{};
  Bytes output{};
  Bytes saved{};                                       // all interior values that backward ops read
  std::array<std::array<Bytes, 2>, 2> advance_peak{};  // [first][keep]: the output stays
  std::array<std::array<Bytes, 2>, 2> record_peak{};   // output and saved values stay
  std::array<std::array<Bytes, 2>, 2> turn_peak{};     // what backward ops read stays
  /// Of the backward ops, with all gradients alive and pinned values: [keep].
  std::array<Bytes, 2> backward_peak{};
  /// Gradients and pinned values in RAM while forward ops run for the sake of this block's backward ops:
  /// before the first of them, after the last of the block behind. Nothing has been differentiated yet for
  /// the last block, all pinned values count.
  Bytes carried{};
  std::array<Seconds, 2> advance_time{};  // [first]
  std::array<Seconds, 2> record_time{};
  std::array<Seconds, 2> turn_time{};
  std::array<double, 2> advance_cost{};  // [first], joules: energy, and what idling meanwhile draws
  std::array<double, 2> record_cost{};
  std::array<double, 2> turn_cost{};
  Seconds backward_time{};
};

/// `semantics` says whether workspace and idle power count. Peaks are exact, but that a pinned value which a
/// forward op of block i reads is taken to stay until block i's backward ops run. O(ops + values + edges)
/// times the values alive at once.
[[nodiscard]] std::vector<BlockMemory> chain_memory(const Instance& instance, const Dataflow& flow,
                                                    const Chain& chain, Semantics semantics);

}  // namespace poet
