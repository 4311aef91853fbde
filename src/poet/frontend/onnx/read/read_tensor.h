#pragma once

// A tensor of the file. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <string>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// Its type and shape, and its contents where it is small (kMostIntegers, kMostReals) and in the file. Throws
/// InputError starting with `place` when the shape is negative or overflows.
[[nodiscard]] Tensor read_tensor(const ::onnx::TensorProto& proto, const std::string& place);

}  // namespace poet::onnx
