#pragma once

// Nodes in an order in which they can run. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

namespace poet::onnx {

/// Moves each node behind those whose results it reads, itself or in its subgraphs, where the file has it
/// elsewhere; the order stays as it is as far as it can. Nodes of a cycle stay at the end. O(nodes + inputs,
/// at each depth of subgraphs).
void sort_nodes(::onnx::GraphProto& graph);

}  // namespace poet::onnx
