#pragma once

// Files whose nodes, not initialisers, hold the weights. Private to poet/frontend/onnx.

#include "poet/frontend/onnx/lower/uses.h"

namespace poet::onnx {

/// Whether all filters, matrices and tables that the network reads are results of Constant or ConstantOfShape
/// nodes, which then hold the weights or, as fills, stand for them.
struct WeightsInNodes {
  bool are = false;
  bool by_fills = false;  // some by ConstantOfShape
};

/// O(nodes + initialisers).
[[nodiscard]] WeightsInNodes weights_in_nodes(const Model& model, const Uses& uses);

/// Whether a Constant or ConstantOfShape node has real numbers (the latter by default).
[[nodiscard]] bool makes_reals(const Node& node);

}  // namespace poet::onnx
