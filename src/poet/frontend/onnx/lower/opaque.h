#pragma once

// Operators without a rule in poet. Private to poet/frontend/onnx.

#include <string>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

struct Lowering;

/// "LpPool", "com.acme.Fancy".
[[nodiscard]] std::string operator_name(const Node& node);

/// Adds the node as an opaque op with the shapes that libonnx infers or the file declares for its outputs.
/// `reason`: why its rule could not take it; empty when there is none. Throws InputError when an output's
/// shape is not known or the node has subgraphs, which read more than its inputs.
void add_opaque(Lowering& net, const Node& node, const std::string& reason);

}  // namespace poet::onnx
