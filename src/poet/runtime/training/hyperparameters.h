#pragma once

// Settings of an optimiser whose update ops are in the graph already.

#include <cstdint>
#include <optional>

#include "poet/graph/graph.h"

namespace poet::runtime {

struct Hyperparameters {
  std::optional<double> learning_rate{};   // > 0
  std::optional<double> momentum{};        // in [0, 1)
  std::optional<double> beta1{}, beta2{};  // in [0, 1)
  std::optional<double> eps{};             // > 0
  std::optional<double> weight_decay{};    // >= 0
  std::optional<bool> nesterov{};          // of momentum
};

/// Writes them into the update ops of `training`. Throws InputError naming the field that is out of range, or
/// that no update op has (momentum under SGD), and a weight
/// decay where steps change the rows of a table that their data name, and no others.
void set_hyperparameters(Graph& training, const Hyperparameters& chosen);

/// Returns the number of steps per update: 1, or the number of accumulated gradients.
[[nodiscard]] std::int64_t steps_per_update(const Graph& training);

}  // namespace poet::runtime
