#pragma once

// Training steps of random deep networks, of any size, with the proportions of real ones: for benches, and
// for tests that need more than a handful of ops. The same seed gives the same answer on every machine.

#include <cstdint>

#include "poet/cost/instance.h"

namespace poet::test {

struct RandomTrainingGraphOptions {
  int ops = 200;         // exactly that many; at least 16
  int resolutions = 4;   // the feature maps are halved in width and height that often, less one
  double skip = 0.4;     // share of blocks that add an earlier one's output, mostly a near one's
  double product = 0.1;  // share of blocks that multiply with it instead: a backward op of two results
  double not_recomputable = 0.02;  // share of forward ops that cannot be repeated
  bool updates = true;             // weights are updated in the step, each right after its gradient
};

/// Blocks of a convolution, a normalisation and an activation, with skip connections, then their backward ops
/// in reverse: gradients of activations (they read what their forward op read or wrote), sums of gradients
/// where a value has several users, weight gradients, updates. Convolutions cost 10 to 1,000 times what
/// elementwise ops do; paging a value lies between. About 8 kB of values per op. Channel widths vary by a
/// factor of 4, bytes halve from one resolution to the next. Costs for all semantics: workspace, idle power,
/// a concurrent channel, storage that sleeps. O(ops).
[[nodiscard]] Instance random_training_graph(std::uint64_t seed,
                                             const RandomTrainingGraphOptions& options = {});

}  // namespace poet::test
