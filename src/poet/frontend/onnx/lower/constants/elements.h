#pragma once

// Elements of known tensors. Private to constants.

#include <cstddef>
#include <cstdint>

#include "poet/frontend/onnx/lower/constants.h"

namespace poet::onnx::constants {

/// Elements that the shape has. Throws InputError on overflow.
[[nodiscard]] std::size_t size(const Tensor& tensor);

/// An empty tensor of this type and shape, to be filled. What is too large to hold is not known.
[[nodiscard]] Tensor like(const Tensor& type, Shape shape);

/// Element `j` of `from` to element `i` of `to`; both are of one type.
void copy(Tensor& to, std::size_t i, const Tensor& from, std::size_t j);

/// The index in row-major `shape`, broadcast to `to`, of element `i` of row-major `to`.
[[nodiscard]] std::size_t broadcast_index(std::size_t i, const Shape& to, const Shape& shape);

/// Saturates: exporters use the largest double for "to the end". 0 for what is no number.
[[nodiscard]] std::int64_t truncated(double x);

}  // namespace poet::onnx::constants
