#pragma once

// Elements of weights as files store them. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>

#include "poet/graph/graph.h"

namespace poet::onnx {

/// ONNX's number for a type; truth values are uint8 in a graph.
[[nodiscard]] inline std::int32_t element_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return ::onnx::TensorProto::FLOAT;
    case DType::int32:
      return ::onnx::TensorProto::INT32;
    case DType::int64:
      return ::onnx::TensorProto::INT64;
    case DType::bfloat16:
      return ::onnx::TensorProto::BFLOAT16;
    case DType::uint8:
      break;
  }
  return ::onnx::TensorProto::BOOL;
}

/// The elements, of `width` bytes each, of the transposed one of a row-major matrix.
[[nodiscard]] inline std::string transposed_elements(const std::string& elements, const Shape& matrix,
                                                     Bytes width) {
  const auto rows = static_cast<std::size_t>(matrix.at(0));
  const auto columns = static_cast<std::size_t>(matrix.at(1));
  const auto size = static_cast<std::size_t>(width.value());
  std::string transposed(elements.size(), '\0');
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c)
      transposed.replace((c * rows + r) * size, size, elements, (r * columns + c) * size, size);
  }
  return transposed;
}

}  // namespace poet::onnx
