#pragma once

// What a user sets about an optimiser whose update ops are in the graph already.

#include <optional>

#include "poet/graph/graph.h"

namespace poet::runtime {

struct Hyperparameters {
  std::optional<double> learning_rate{};   // > 0
  std::optional<double> momentum{};        // in [0, 1)
  std::optional<double> beta1{}, beta2{};  // in [0, 1)
  std::optional<double> eps{};             // > 0
};

/// Writes them into the update ops of `training`. Throws InputError naming the field that is out of range, or
/// that no update op has (momentum under SGD).
void set_hyperparameters(Graph& training, const Hyperparameters& chosen);

}  // namespace poet::runtime
