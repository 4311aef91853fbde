#pragma once

// A forward graph as an ONNX file, so that importing it can be compared with the graph that it came from.

#include <algorithm>
#include <cstdint>
#include <string>

#include "poet/frontend/onnx/export.h"

namespace poet::test {

/// onnx_model_of() in training mode. Weights are zeros where all together take less than 32 MB, so that
/// libonnx checks the model when it is read, and have no contents otherwise.
inline std::string to_onnx(const Graph& forward, std::int64_t opset) {
  Bytes weights{};
  for (const Value& value : forward.values) {
    if (is_persistent(value.persistence)) weights += value.bytes;
  }
  const bool has_contents = weights < Bytes(32'000'000);
  const auto zeros = [has_contents](const Value& value, std::byte* to) {
    std::fill_n(to, value.bytes.value(), std::byte{0});
    return has_contents;
  };
  return onnx_model_of(forward, zeros, {.opset = opset, .training = true});
}

}  // namespace poet::test
