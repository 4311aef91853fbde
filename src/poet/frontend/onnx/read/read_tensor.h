#pragma once

// A tensor of the file. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// Its type and shape, its contents where it is small (kMostIntegers, kMostReals), and what is known of more
/// real numbers. Contents that cannot be read from another file in `folder` (empty: from none) are unknown.
/// Throws InputError starting with `place` when the shape is negative or overflows. O(elements).
[[nodiscard]] Tensor read_tensor(const ::onnx::TensorProto& proto, const std::filesystem::path& folder,
                                 const std::string& place);

}  // namespace poet::onnx
