#pragma once

// Forward graph -> training graph: backward ops by real saved-tensor rules, gradient accumulation, optimiser
// updates.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "poet/graph/graph.h"

namespace poet {

enum class Optimizer { sgd, momentum, adam, adamw };

struct TrainingOptions {
  Optimizer optimizer = Optimizer::sgd;
  /// Which parameters train, by name; empty: all. Frozen parameters need no gradient, and the backward pass
  /// stops where nothing upstream trains.
  std::function<bool(const std::string& parameter)> trainable{};
  /// Every so many steps (micro-batches) update once, by the mean of their gradients.
  std::int64_t accumulate = 1;
  /// Gradients are scaled down to this norm, taken over all of them together; absent: never.
  std::optional<double> clip_norm{};
};

/// The training step of `forward`, whose loss is the first output of its one loss op
/// (`softmax_cross_entropy`, `mse_loss`...). Ops keep their order; backward ops follow in reverse, each
/// update right after the last op that needs the old parameter. A trainable parameter that the loss does not
/// depend on stays as it is. The result is verified. Throws InputError when `forward` breaks a rule of
/// verify() or is no forward graph, an option is out of range, there is not exactly one loss, an op between a
/// trained parameter and the loss has no gradient rule, or nothing trains. O(ops + values).
[[nodiscard]] Graph differentiate(const Graph& forward, const TrainingOptions& options = {});

}  // namespace poet
