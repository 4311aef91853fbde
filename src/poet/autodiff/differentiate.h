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
  /// Selects the trained parameters by name; empty: all. Frozen parameters get no gradient, and the backward
  /// pass stops at values that depend on no trained parameter.
  std::function<bool(const std::string& parameter)> trainable{};
  /// Gradient accumulation: the number of steps (micro-batches) per update, which uses the mean of their
  /// gradients.
  std::int64_t accumulate = 1;
  /// Clips gradients to this global norm; absent: no clipping.
  std::optional<double> clip_norm{};
};

/// Returns the verified training step of `forward`, whose loss is the first output of its one loss op
/// (`softmax_cross_entropy`, `mse_loss`...). Ops keep their order; backward ops follow in reverse, each
/// update right after the last op that needs the old parameter. A trainable parameter on which the loss does
/// not depend is not updated. Throws InputError if `forward` is invalid by verify() or no forward graph, an
/// option is out of range, there is not exactly one loss, an op between a trained parameter and the loss has
/// no gradient rule, or no parameter is trained. O(ops + values).
[[nodiscard]] Graph differentiate(const Graph& forward, const TrainingOptions& options = {});

}  // namespace poet
