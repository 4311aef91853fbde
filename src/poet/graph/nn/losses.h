#pragma once

// What a training step minimises: one number.

#include <string>

#include "poet/graph/builder.h"

namespace poet::nn {

/// Mean over the batch; logits (N, C), targets (N) int32.
ValueId softmax_cross_entropy(GraphBuilder& g, const std::string& name, ValueId logits, ValueId targets);
/// Mean over all elements of (x - targets)².
ValueId mse_loss(GraphBuilder& g, const std::string& name, ValueId x, ValueId targets);

}  // namespace poet::nn
