#pragma once

// Normalisations, with the scale NAME.weight and the shift NAME.bias where PyTorch's have them.

#include <cstdint>
#include <string>

#include "poet/graph/builder.h"

namespace poet::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
};

struct LrnOptions {
  std::int64_t size = 5;  // channels in a window
  double alpha = 1e-4;
  double beta = 0.75;
  double bias = 1.0;
};

/// Training mode: normalises with the statistics of the batch, and updates the running ones in an op of its
/// own right after it, so that the normalisation can be recomputed without repeating the side effect. Needs
/// more than one value per channel.
ValueId batch_norm(GraphBuilder& g, const std::string& name, ValueId x, const BatchNormOptions& options = {});
/// Over the last axis.
ValueId layer_norm(GraphBuilder& g, const std::string& name, ValueId x, double eps);
/// Normalises every group of channels of every image; scale and shift per channel.
ValueId group_norm(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t groups, double eps);
/// The group norm with one channel per group.
ValueId instance_norm(GraphBuilder& g, const std::string& name, ValueId x, double eps);
/// Divides x (N,C,...) by (bias + alpha / size * sum of squares)^beta, the sum over the `size` channels
/// around: (size - 1) / 2 before, rounded down, the others after.
ValueId lrn(GraphBuilder& g, const std::string& name, ValueId x, const LrnOptions& options);

}  // namespace poet::nn
