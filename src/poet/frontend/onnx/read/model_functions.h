#pragma once

// Functions that an ONNX model brings along. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>

namespace poet::onnx {

/// Puts the nodes of the model's own functions in place of the nodes that call them, in subgraphs too; none
/// are left. Inner names get the caller's name before them. Throws InputError with `place` where a function
/// calls itself, lacks what it reads, is for another opset than the model, or all come to more than
/// kMostNodes, to more than 2 GiB, or are nested deeper than 100: known before anything is copied, but for
/// what attributes of calls bring along. How many nodes called one. O(nodes of the result).
std::int64_t inline_functions(::onnx::ModelProto& model, const std::string& place);

}  // namespace poet::onnx
