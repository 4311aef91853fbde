#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace poet::runtime {

/// What besides the tensors a run goes on from.
struct RunState {
  std::int64_t step = 0;   // training steps done
  std::uint64_t seed = 0;  // of weights, data order and dropout
  float loss = 0;          // of the last step
  /// What else decides the next bits and cannot be told from tensors, by name: data, batch, kernels,
  /// optimiser.
  std::map<std::string, std::string> circumstances;
  /// The lowest loss of a validation so far, and the step after which it was. -1: there was none.
  double best_loss = 0;
  std::int64_t best_step = -1;
};

}  // namespace poet::runtime
