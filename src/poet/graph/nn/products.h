#pragma once

// Products of matrices.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/builder.h"

namespace poet::nn {

struct MatmulOptions {
  double alpha = 1.0;
  std::vector<std::int64_t> storage_order;  // of the output's axes, slowest first; empty: row-major
};

/// Of the last axis of x, by NAME.weight (out_features, in_features), plus NAME.bias.
ValueId linear(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t out_features,
               bool bias = true);
/// Reads views with any strides. Of a (...,M,K) and b (...,K,N) the leading axes broadcast.
ValueId matmul(GraphBuilder& g, const std::string& name, ValueId a, ValueId b,
               const MatmulOptions& options = {});

}  // namespace poet::nn
