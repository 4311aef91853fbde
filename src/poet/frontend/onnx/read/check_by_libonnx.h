#pragma once

// libonnx's own check of a model. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <string>

namespace poet::onnx {

/// Throws InputError with the rule that libonnx says the model breaks. Models that it cannot judge pass:
/// those newer than libonnx, with operators of other domains, or without all of their tensors.
void check_by_libonnx(const ::onnx::ModelProto& model, const std::string& place);

}  // namespace poet::onnx
