#pragma once

// What a training step minimises: one number.

#include <string>

#include "poet/graph/builder.h"

namespace poet::nn {

/// Mean over the batch; logits (N, C), targets (N) int32.
ValueId softmax_cross_entropy(GraphBuilder& g, const std::string& name, ValueId logits, ValueId targets);
/// The mean of the numbers of x: what a network computes as its own loss.
ValueId mean_loss(GraphBuilder& g, const std::string& name, ValueId x);
/// Mean over all elements of (x - targets)².
ValueId mse_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets);
/// Mean of |x - targets|.
ValueId l1_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets);
/// Mean of d²/2 where |d| = |x - targets| is at most delta, else of delta (|d| - delta/2).
ValueId huber_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets, double delta = 1.0);
/// Binary cross-entropy of sigmoid(x), targets in [0, 1].
ValueId bce_with_logits_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets);
/// Binary cross-entropy of probabilities x, their logarithms at least -100.
ValueId bce_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets);

}  // namespace poet::nn
