#pragma once

// The elements of a tensor of a file, as a graph's value holds them. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "poet/graph/graph.h"

namespace poet::onnx {

/// The bytes of all elements, little-endian, wherever the tensor keeps them: in one of its fields, or in
/// another file, which lies in `folder` or below, behind no symbolic link. Nothing when they are absent.
/// Throws InputError when they are not as many as the shape has, when the other file cannot be read, or when
/// it would lie outside.
[[nodiscard]] std::optional<std::string> raw_elements(const ::onnx::TensorProto& tensor,
                                                      const std::filesystem::path& folder);

/// Writes them as `to_type`. `transposed`: the tensor is a matrix, of which the transposed one is wanted.
/// Throws InputError when there are none of numbers, or a number does not fit. O(elements).
void write_elements(const ::onnx::TensorProto& tensor, const std::string& raw, bool transposed, DType to_type,
                    std::byte* to);

}  // namespace poet::onnx
