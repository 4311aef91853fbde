#pragma once

// If and Loop nodes of which it is known what they do. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <string>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// Puts what an If or a Loop runs in its place: the nodes of one branch, or those of the body once for every
/// round. Inner names get the node's name before them. Throws InputError that begins with `place`, if
/// any, and names the node where a subgraph is missing or does not fit the node, where a loop decides in its
/// body whether it goes on, or where all comes to more than kMostNodes. O(nodes of the model).
void resolve(::onnx::ModelProto& model, const ResolvedControl& known, const std::string& place);

}  // namespace poet::onnx
